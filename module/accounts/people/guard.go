package people

import (
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Throttles bound guesses and changes.
type Throttles struct {
	Disabled bool // there are none
	Logger   *zap.Logger

	shared *shared
}

// Streams returns the streams of records, by user.
func (t *Throttles) Streams() *throttle.Shares { return t.shared.streams }

// Attempt is one check of a password, counted by each throttle that admitted it.
type Attempt struct {
	who  call.Principal
	ends []func(throttle.Outcome) // end the attempt in these throttles
}

// begin counts the attempt in one more throttle. If that throttle refuses the attempt,
// begin ends it and returns the time to wait. forgives reports whether a success clears
// the failures of the key.
func (attempt *Attempt) begin(t *throttle.Throttle, key string, forgives bool) time.Duration {
	counted, wait := t.Begin(key)
	if counted == nil {
		attempt.End(throttle.Undecided)
		return wait
	}
	attempt.ends = append(attempt.ends, func(o throttle.Outcome) {
		if o == throttle.Succeeded && !forgives {
			o = throttle.Undecided
		}
		t.End(counted, o)
	})
	return 0
}

// End ends the attempt with an outcome.
func (attempt *Attempt) End(o throttle.Outcome) {
	for _, end := range attempt.ends {
		end(o)
	}
	attempt.ends = nil
}

// beginLogin counts a login in the throttles of logins. The throttle of the network is
// the first, so that its refusals do not count in the others. A success clears only the
// failures of the name in the network; other failures may have other origins.
func (p *People) beginLogin(c *call.Call, name string, user *aigateway.User) (*Attempt, error) {
	if !username.MatchString(name) {
		name = "" // names that no user can have share a counter
	}
	network := call.Network(c.Address())
	attempt := &Attempt{who: call.Principal{Account: name + " " + network, Network: network}}
	if !p.Disabled {
		wait := attempt.begin(p.shared.networks, network, false)
		if wait == 0 {
			wait = attempt.begin(p.shared.networkNames, attempt.who.Account, true)
		}
		if wait > 0 {
			return nil, p.throttled(c, wait)
		}
	}
	known, err := p.knows(c, user, network)
	if err != nil {
		attempt.End(throttle.Undecided)
		return nil, err
	}
	attempt.who.Stranger = !known
	if known || p.Disabled {
		return attempt, nil
	}
	if wait := attempt.begin(p.shared.names, name, false); wait > 0 {
		return nil, p.throttled(c, wait)
	}
	return attempt, nil
}

// knows reports whether a user has a session from this network. Failed logins
// from other networks do not prevent logins from a known network. If user is nil,
// knows does the same work, so that its time does not reveal which names exist.
func (p *People) knows(c *call.Call, user *aigateway.User, network string) (bool, error) {
	var id int64
	if user != nil {
		id = user.ID
	}
	sessions, err := p.Store.SessionsOf(c.Context(), id)
	for i := range sessions {
		address, err := netip.ParseAddr(sessions[i].Address)
		if err == nil && call.Network(address) == network {
			return true, nil
		}
	}
	return false, err
}

// beginPasswordChange counts a password change of a logged-in user. It has a throttle of
// its own, so that failed logins with the user's name, which anyone can cause, do not
// prevent the change.
func (t *Throttles) beginPasswordChange(c *call.Call) (*Attempt, error) {
	attempt := &Attempt{who: c.Principal()}
	if t.Disabled {
		return attempt, nil
	}
	if wait := attempt.begin(t.shared.passwordChanges, attempt.who.Account, true); wait > 0 {
		return nil, t.throttled(c, wait)
	}
	return attempt, nil
}

// CountChange counts a change, a login or a new pair of tokens of a user with the smallest role. Each adds
// a row to the audit log, and users must not be able to fill the database with them.
func (t *Throttles) CountChange(user *aigateway.User) error {
	if t.Disabled || user.Role >= aigateway.RoleAdmin {
		return nil
	}
	if wait := count(t.shared.changesMade, user.Name); wait > 0 {
		return answer.Later(http.StatusServiceUnavailable, wait, "too many changes, try again later")
	}
	return nil
}

// CountSignIn counts the beginning of a sign-in. Whether it fails is not known before the browser
// comes back, or the program, so each counts. Nothing of it is kept in memory but this count.
func (t *Throttles) CountSignIn(c *call.Call) error {
	if t.Disabled {
		return nil
	}
	if wait := count(t.shared.begins, call.Network(c.Address())); wait > 0 {
		return t.throttled(c, wait)
	}
	return nil
}

// BeginCode counts a code of a program that the user of a call has typed. Wrong ones are throttled,
// apart from wrong passwords.
func (t *Throttles) BeginCode(c *call.Call) (*Attempt, error) {
	attempt := new(Attempt)
	if t.Disabled {
		return attempt, nil
	}
	if wait := attempt.begin(t.shared.passwordChanges, c.Principal().Account+" code", false); wait > 0 {
		return nil, t.throttled(c, wait)
	}
	return attempt, nil
}

// count counts an event of a key as a failure. If the throttle refuses the event, count returns
// the time to wait.
func count(t *throttle.Throttle, key string) time.Duration {
	counted, wait := t.Begin(key)
	if counted != nil {
		t.End(counted, throttle.Failed)
	}
	return wait
}

// check reports whether the password is right, and ends the attempt. It records a wrong one as
// a failed action.
func (p *People) check(c *call.Call, attempt *Attempt, user *aigateway.User, password, action string) (bool, error) {
	right, err := p.verify(c.Context(), attempt.who, user, password)
	switch {
	case err != nil:
		attempt.End(throttle.Undecided)
	case right:
		attempt.End(throttle.Succeeded)
	default:
		attempt.End(throttle.Failed)
		p.RecordFailure(c, user, action)
	}
	return right, err
}

// throttled returns the problem of a refused attempt. It logs at most one refusal per
// second.
func (t *Throttles) throttled(c *call.Call, wait time.Duration) error {
	now, last := time.Now().Unix(), t.shared.warned.Load()
	if now != last && t.shared.warned.CompareAndSwap(last, now) {
		t.Logger.Warn("too many attempts", zap.String("path", c.URL.Path),
			zap.String("network", call.Network(c.Address())), zap.Duration("wait", wait))
	}
	return answer.Later(http.StatusTooManyRequests, wait, "too many attempts, try again later")
}

// BeginSignIn counts the end of a sign-in, whose failures from a network are throttled.
func (t *Throttles) BeginSignIn(c *call.Call) (*Attempt, error) {
	attempt := new(Attempt)
	if t.Disabled {
		return attempt, nil
	}
	if wait := attempt.begin(t.shared.signIns, call.Network(c.Address()), false); wait > 0 {
		return nil, t.throttled(c, wait)
	}
	return attempt, nil
}

// BeginChange admits a change by the user of a call, and returns a function that the caller calls
// at its end. It bounds the number of concurrent changes of each user: a store makes one change at
// a time, and refuses changes if too many wait.
func (t *Throttles) BeginChange(c *call.Call) (end func(), err error) {
	who := c.Principal().Account
	if !t.shared.changes.Acquire(who) {
		return nil, answer.ErrTooManyChanges
	}
	end = func() { t.shared.changes.Release(who) }
	if err := t.CountChange(c.User); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

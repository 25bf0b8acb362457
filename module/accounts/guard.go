package accounts

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

// guard checks passwords of users, and throttles the guesses.
type guard struct {
	store     aigateway.Store
	passwords passwords
	shared    *shared
	off       bool // there are no throttles
	logger    *zap.Logger
}

// attempt is one check of a password, counted by each throttle that admitted it.
type attempt struct {
	who  call.Principal
	ends []func(throttle.Outcome) // end the attempt in these throttles
}

// begin counts the attempt in one more throttle. If that throttle refuses the attempt,
// begin ends it and returns the time to wait. forgives reports whether a success clears
// the failures of the key.
func (at *attempt) begin(t *throttle.Throttle, key string, forgives bool) time.Duration {
	counted, wait := t.Begin(key)
	if counted == nil {
		at.end(throttle.Undecided)
		return wait
	}
	at.ends = append(at.ends, func(o throttle.Outcome) {
		if o == throttle.Succeeded && !forgives {
			o = throttle.Undecided
		}
		t.End(counted, o)
	})
	return 0
}

func (at *attempt) end(o throttle.Outcome) {
	for _, end := range at.ends {
		end(o)
	}
	at.ends = nil
}

// beginLogin counts a login in the throttles of logins. The throttle of the network is
// the first, so that its refusals do not count in the others. A success clears only the
// failures of the name in the network; other failures may have other origins.
func (g guard) beginLogin(c *call.Call, name string, user *aigateway.User) (*attempt, error) {
	if !username.MatchString(name) {
		name = "" // names that no user can have share a counter
	}
	from := call.Network(c.Address())
	at := &attempt{who: call.Principal{Account: name + " " + from, Network: from}}
	if !g.off {
		wait := at.begin(g.shared.networks, from, false)
		if wait == 0 {
			wait = at.begin(g.shared.networkNames, at.who.Account, true)
		}
		if wait > 0 {
			return nil, g.throttled(c, wait)
		}
	}
	known, err := g.knows(c, user, from)
	if err != nil {
		at.end(throttle.Undecided)
		return nil, err
	}
	at.who.Stranger = !known
	if known || g.off {
		return at, nil
	}
	if wait := at.begin(g.shared.names, name, false); wait > 0 {
		return nil, g.throttled(c, wait)
	}
	return at, nil
}

// knows reports whether a user has a session from this network. Failed logins
// from other networks do not prevent logins from a known network. If user is nil,
// knows does the same work, so that its time does not reveal which names exist.
func (g guard) knows(c *call.Call, user *aigateway.User, from string) (bool, error) {
	var id int64
	if user != nil {
		id = user.ID
	}
	sessions, err := g.store.SessionsOf(c.Context(), id)
	for i := range sessions {
		address, err := netip.ParseAddr(sessions[i].Address)
		if err == nil && call.Network(address) == from {
			return true, nil
		}
	}
	return false, err
}

// beginPasswordChange counts a password change of a logged-in user. It has a throttle of
// its own, so that failed logins with the user's name, which anyone can cause, do not
// prevent the change.
func (g guard) beginPasswordChange(c *call.Call) (*attempt, error) {
	at := &attempt{who: c.Principal()}
	if g.off {
		return at, nil
	}
	if wait := at.begin(g.shared.passwordChanges, at.who.Account, true); wait > 0 {
		return nil, g.throttled(c, wait)
	}
	return at, nil
}

// countChange counts a change or a login of a user with the smallest role. Each adds a row to
// the audit log, and users must not be able to fill the database with them.
func (g guard) countChange(user *aigateway.User) error {
	if g.off || user.Role >= aigateway.RoleAdmin {
		return nil
	}
	if wait := count(g.shared.changesMade, user.Name); wait > 0 {
		return answer.Later(http.StatusServiceUnavailable, wait, "too many changes, try again later")
	}
	return nil
}

// countBegin counts the beginning of a sign-in. Whether it fails is not known before the browser
// comes back, so each counts. Nothing of it is kept in memory but this count.
func (g guard) countBegin(c *call.Call) error {
	if g.off {
		return nil
	}
	if wait := count(g.shared.begins, call.Network(c.Address())); wait > 0 {
		return g.throttled(c, wait)
	}
	return nil
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
func (g guard) check(c *call.Call, at *attempt, user *aigateway.User, password, action string) (bool, error) {
	right, err := g.passwords.verify(c.Context(), at.who, user, password)
	switch {
	case err != nil:
		at.end(throttle.Undecided)
	case right:
		at.end(throttle.Succeeded)
	default:
		at.end(throttle.Failed)
		g.recordFailure(c, user, action)
	}
	return right, err
}

// throttled returns the problem of a refused attempt. It logs at most one refusal per
// second.
func (g guard) throttled(c *call.Call, wait time.Duration) error {
	now, last := time.Now().Unix(), g.shared.warned.Load()
	if now != last && g.shared.warned.CompareAndSwap(last, now) {
		g.logger.Warn("too many attempts", zap.String("path", c.URL.Path),
			zap.String("network", call.Network(c.Address())), zap.Duration("wait", wait))
	}
	return answer.Later(http.StatusTooManyRequests, wait, "too many attempts, try again later")
}

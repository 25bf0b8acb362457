package accounts

import (
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// attempt is one check of a password, counted by each throttle that admitted it.
type attempt struct {
	who  principal
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
func (a *Accounts) beginLogin(c *call, name string, user *aigateway.User) (*attempt, error) {
	if !username.MatchString(name) {
		name = "" // names that no user can have share a counter
	}
	from := network(c.address())
	at := &attempt{who: principal{account: name + " " + from, network: from}}
	if wait := a.beginInNetwork(at); wait > 0 {
		return nil, a.throttled(c, wait)
	}
	known, err := a.inKnownNetwork(c, user, from)
	if err != nil {
		at.end(throttle.Undecided)
		return nil, err
	}
	at.who.stranger = !known
	if known || a.ThrottleOff {
		return at, nil
	}
	if wait := at.begin(a.shared.names, name, false); wait > 0 {
		return nil, a.throttled(c, wait)
	}
	return at, nil
}

// beginInNetwork counts a login in the throttles of its network.
func (a *Accounts) beginInNetwork(at *attempt) time.Duration {
	if a.ThrottleOff {
		return 0
	}
	if wait := at.begin(a.shared.networks, at.who.network, false); wait > 0 {
		return wait
	}
	return at.begin(a.shared.networkNames, at.who.account, true)
}

// inKnownNetwork reports whether a user has a session from this network. Failed logins
// from other networks do not prevent logins from a known network. If user is nil,
// inKnownNetwork does the same work, so that its time does not reveal which names exist.
func (a *Accounts) inKnownNetwork(c *call, user *aigateway.User, from string) (bool, error) {
	var id int64
	if user != nil {
		id = user.ID
	}
	sessions, err := a.store.SessionsOf(c.Context(), id)
	for i := range sessions {
		address, err := netip.ParseAddr(sessions[i].Address)
		if err == nil && network(address) == from {
			return true, nil
		}
	}
	return false, err
}

// beginPasswordChange counts a password change of a logged-in user. It has a throttle of
// its own, so that failed logins with the user's name, which anyone can cause, do not
// prevent the change.
func (a *Accounts) beginPasswordChange(c *call) (*attempt, error) {
	at := &attempt{who: c.principal()}
	if a.ThrottleOff {
		return at, nil
	}
	if wait := at.begin(a.shared.passwordChanges, at.who.account, true); wait > 0 {
		return nil, a.throttled(c, wait)
	}
	return at, nil
}

// checkPassword reports whether the password is right, and ends the attempt.
func (a *Accounts) checkPassword(c *call, at *attempt, user *aigateway.User, password string) (bool, error) {
	right, err := a.verify(c.Context(), at.who, user, password)
	switch {
	case err != nil:
		at.end(throttle.Undecided)
	case right:
		at.end(throttle.Succeeded)
	default:
		at.end(throttle.Failed)
		// The log must not contain the name, because users sometimes type their
		// password into the wrong field.
		a.logger.Info("login failed", zap.String("network", network(c.address())))
	}
	return right, err
}

// throttled returns the problem of a refused attempt. It logs at most one refusal per
// second.
func (a *Accounts) throttled(c *call, wait time.Duration) error {
	now, last := time.Now().Unix(), a.shared.warned.Load()
	if now != last && a.shared.warned.CompareAndSwap(last, now) {
		a.logger.Warn("too many attempts", zap.String("path", c.URL.Path),
			zap.String("network", network(c.address())), zap.Duration("wait", wait))
	}
	return later(http.StatusTooManyRequests, wait, "too many attempts, try again later")
}

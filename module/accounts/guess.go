package accounts

import (
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// attempt is one guess at a password, as the throttles that let it in know it.
type attempt struct {
	who  asker
	ends []func(outcome)
}

// begin asks one more throttle. Where it does not let the attempt in, begin ends
// the attempt and returns how long to wait.
func (at *attempt) begin(t *throttle, key string, forgives bool) time.Duration {
	counted, wait := t.begin(key)
	if counted == nil {
		at.end(undecided)
		return wait
	}
	at.ends = append(at.ends, func(o outcome) {
		if o == succeeded && !forgives {
			o = undecided
		}
		t.end(counted, o)
	})
	return 0
}

func (at *attempt) end(o outcome) {
	for _, end := range at.ends {
		end(o)
	}
	at.ends = nil
}

// beginLogin asks the throttles of logins, that of the network first: whoever it
// stops is not remembered anywhere else. What a login that succeeds forgives is
// its own name in its own network: all else may be someone else's failures.
func (a *Accounts) beginLogin(c *call, name string, user *exchange.User) (*attempt, error) {
	if !username.MatchString(name) {
		name = "" // all that cannot exist count together
	}
	from := network(c.address())
	at := &attempt{who: asker{account: name + " " + from, network: from}}
	if wait := a.beginNear(at); wait > 0 {
		return nil, a.throttled(c, wait)
	}
	known, err := a.isAtHome(c, user, from)
	if err != nil {
		at.end(undecided)
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

// beginNear asks the throttles of where a login comes from.
func (a *Accounts) beginNear(at *attempt) time.Duration {
	if a.ThrottleOff {
		return 0
	}
	if wait := at.begin(a.shared.networks, at.who.network, false); wait > 0 {
		return wait
	}
	return at.begin(a.shared.pairs, at.who.account, true)
}

// isAtHome reports whether a user has a session from this network: guesses from
// elsewhere do not keep them out. It does the same work for names that do not
// exist.
func (a *Accounts) isAtHome(c *call, user *exchange.User, from string) (bool, error) {
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

// beginOwn asks the throttle of the people who are logged in: failed logins of
// their names, which everybody knows, do not keep them from changing a password.
func (a *Accounts) beginOwn(c *call) (*attempt, error) {
	at := &attempt{who: c.asker()}
	if a.ThrottleOff {
		return at, nil
	}
	if wait := at.begin(a.shared.owners, at.who.account, true); wait > 0 {
		return nil, a.throttled(c, wait)
	}
	return at, nil
}

// guess verifies a password, and ends the attempt.
func (a *Accounts) guess(c *call, at *attempt, user *exchange.User, password string) (bool, error) {
	right, err := a.verify(c.Context(), at.who, user, password)
	switch {
	case err != nil:
		at.end(undecided)
	case right:
		at.end(succeeded)
	default:
		at.end(failed)
		// No name: people type their password into the wrong field.
		a.logger.Info("login failed", zap.String("network", network(c.address())))
	}
	return right, err
}

// throttled refuses an attempt, and logs that once a second at most.
func (a *Accounts) throttled(c *call, wait time.Duration) error {
	now, last := time.Now().Unix(), a.shared.warned.Load()
	if now != last && a.shared.warned.CompareAndSwap(last, now) {
		a.logger.Warn("too many attempts", zap.String("path", c.URL.Path),
			zap.String("network", network(c.address())), zap.Duration("wait", wait))
	}
	return later(http.StatusTooManyRequests, wait, "too many attempts, try again later")
}

package accounts

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ownAccount is what users do with their own account, registration included.
type ownAccount struct {
	users        users
	guard        guard
	registration bool                       // anyone may create an account
	reserved     func(username string) bool // nil if no name is reserved
}

// show answers GET /api/user/self.
func (ownAccount) show(c *call) (any, error) { return viewUser(c.user), nil }

// present answers GET /api/session with the account of the session, null without one. A page
// asks it before anyone has logged in, when a refusal would be a wrong alarm.
func (ownAccount) present(c *call) (any, error) {
	err := c.authenticate()
	if errors.Is(err, errNoLogin) || errors.Is(err, errNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return viewUser(c.user), nil
}

// change answers PUT /api/user/self, which changes the display name, the password or
// both. An empty password counts as absent, because clients send it for an unchanged
// password.
func (o ownAccount) change(c *call) (any, error) {
	display, password, original := c.form.text("display_name"), c.form.text("password"), c.form.text("original_password")
	if password != nil && *password == "" {
		password = nil
	}
	if err := c.form.err(); err != nil {
		return nil, err
	}
	if err := checkText("display_name", valueOr(display, "")); err != nil {
		return nil, err
	}
	old := c.user.Password
	hash := old
	if password != nil {
		var err error
		if hash, err = o.newPassword(c, *password, valueOr(original, "")); err != nil {
			return nil, err
		}
	}
	return answerUser(o.write(c, display, old, hash))
}

// newPassword checks the old password, and returns the hash of the new one. Without
// the check, a stolen session would be enough to take over an account.
func (o ownAccount) newPassword(c *call, password, original string) (string, error) {
	if err := checkPassword("password", password); err != nil {
		return "", err
	}
	if original == "" || len(original) > maxPassword {
		return "", invalid("original_password is required to change the password")
	}
	attempt, err := o.guard.beginPasswordChange(c)
	if err != nil {
		return "", err
	}
	right, err := o.guard.check(c, attempt, c.user, original, "user.password")
	if err != nil {
		return "", err
	}
	if !right {
		return "", refuse(http.StatusForbidden, "original_password is wrong")
	}
	return o.users.passwords.hash(c, password)
}

// write stores the changes. A new password replaces only the password that was
// verified, and ends all other sessions.
func (o ownAccount) write(c *call, display *string, old, hash string) (*aigateway.User, error) {
	renewed := hash != old
	return o.users.store.ChangeUser(c.Context(), c.user.ID, c.session.ID, func(u *aigateway.User) error {
		if renewed && u.Password != old {
			return refuse(http.StatusConflict, "the password has been changed by someone else in the meantime")
		}
		if renewed {
			u.Password = hash
		}
		u.DisplayName = valueOr(display, u.DisplayName)
		return nil
	})
}

// register answers POST /api/user/register.
func (o ownAccount) register(c *call) (any, error) {
	if !o.registration {
		return nil, refuse(http.StatusForbidden, "registration is off: ask an administrator for an account")
	}
	wanted, err := readNewUser(c.form)
	if err != nil {
		return nil, err
	}
	wanted.role = aigateway.RoleUser
	if !o.guard.off {
		attempt, wait := o.guard.shared.registrations.Begin(network(c.address()))
		if attempt == nil {
			return nil, o.guard.throttled(c, wait)
		}
		defer o.guard.shared.registrations.End(attempt, throttle.Failed) // successful registrations count, too
	}
	if o.reserved != nil && o.reserved(foldName(wanted.name)) {
		return nil, aigateway.ErrTaken // as for the name of a user, so that it reveals no more
	}
	return answerUser(o.users.create(c, wanted))
}

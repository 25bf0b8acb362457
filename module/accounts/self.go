package accounts

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
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
func (ownAccount) show(c *call.Call) (any, error) { return viewUser(c.User), nil }

// present answers GET /api/session with the account of the session, null without one. A page
// asks it before anyone has logged in, when a refusal would be a wrong alarm.
func (ownAccount) present(c *call.Call) (any, error) {
	err := c.Authenticate()
	if errors.Is(err, call.ErrNoLogin) || errors.Is(err, call.ErrNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return viewUser(c.User), nil
}

// change answers PUT /api/user/self, which changes the display name, the password or
// both. An empty password counts as absent, because clients send it for an unchanged
// password.
func (o ownAccount) change(c *call.Call) (any, error) {
	display, password, original := c.Form.Text("display_name"), c.Form.Text("password"), c.Form.Text("original_password")
	if password != nil && *password == "" {
		password = nil
	}
	if err := c.Form.Err(); err != nil {
		return nil, err
	}
	if err := checkText("display_name", call.ValueOr(display, "")); err != nil {
		return nil, err
	}
	old := c.User.Password
	hash := old
	if password != nil {
		var err error
		if hash, err = o.newPassword(c, *password, call.ValueOr(original, "")); err != nil {
			return nil, err
		}
	}
	return answerUser(o.write(c, display, old, hash))
}

// newPassword checks the old password, and returns the hash of the new one. Without
// the check, a stolen session would be enough to take over an account.
func (o ownAccount) newPassword(c *call.Call, password, original string) (string, error) {
	if err := checkPassword("password", password); err != nil {
		return "", err
	}
	if original == "" || len(original) > maxPassword {
		return "", answer.Invalid("original_password is required to change the password")
	}
	attempt, err := o.guard.beginPasswordChange(c)
	if err != nil {
		return "", err
	}
	right, err := o.guard.check(c, attempt, c.User, original, "user.password")
	if err != nil {
		return "", err
	}
	if !right {
		return "", answer.Refuse(http.StatusForbidden, "original_password is wrong")
	}
	return o.users.passwords.hash(c, password)
}

// write stores the changes. A new password replaces only the password that was
// verified, and ends all other sessions.
func (o ownAccount) write(c *call.Call, display *string, old, hash string) (*aigateway.User, error) {
	renewed := hash != old
	return o.users.store.ChangeUser(c.Context(), c.User.ID, c.Session.ID, func(u *aigateway.User) error {
		if renewed && u.Password != old {
			return answer.Refuse(http.StatusConflict, "the password has been changed by someone else in the meantime")
		}
		if renewed {
			u.Password = hash
		}
		u.DisplayName = call.ValueOr(display, u.DisplayName)
		return nil
	})
}

// register answers POST /api/user/register.
func (o ownAccount) register(c *call.Call) (any, error) {
	if !o.registration {
		return nil, answer.Refuse(http.StatusForbidden, "registration is off: ask an administrator for an account")
	}
	wanted, err := readNewUser(c.Form)
	if err != nil {
		return nil, err
	}
	wanted.role = aigateway.RoleUser
	if !o.guard.off {
		attempt, wait := o.guard.shared.registrations.Begin(call.Network(c.Address()))
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

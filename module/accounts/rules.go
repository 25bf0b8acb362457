package accounts

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The rules about who may do what to whom, for the HTTP surface and for the
// administrator of the machine, who is the user nil:
//
//   - An administrator acts on users with a smaller role, and gives such roles.
//   - A root user acts on all, and gives all roles.
//   - Nobody disables, deletes or demotes themself, or changes their own
//     password without the old one.
//   - The last enabled root user stays; the store sees to it.

var (
	errRole = refuse(http.StatusForbidden, "only a greater role may do this")
	errSelf = refuse(http.StatusConflict, "this is your own account: another administrator has to do this")
)

// manages reports whether a user may act on users with a role, and give it.
func manages(by *aigateway.User, role aigateway.Role) bool {
	return by == nil || by.Role == aigateway.RoleRoot || by.Role >= aigateway.RoleAdmin && by.Role > role
}

// newUser is a user that is wanted.
type newUser struct {
	name, display, password string
	role                    aigateway.Role
}

// createUser creates a user, for whoever asks: nil are the administrator of the
// machine and people who register.
func (a *Accounts) createUser(c *call, wanted newUser) (*aigateway.User, error) {
	if !manages(c.user, wanted.role) {
		return nil, errRole
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	hash, err := a.hash(c, wanted.password)
	if err != nil {
		return nil, err
	}
	if !manages(c.user, wanted.role) { // who has another role since
		return nil, errRole
	}
	user := &aigateway.User{
		Name: wanted.name, DisplayName: wanted.display, Role: wanted.role, Password: hash,
	}
	if err := a.store.CreateUser(c.Context(), user); err != nil {
		return nil, err
	}
	a.audit("user created", c.user, user)
	return user, nil
}

func (n *newUser) check() (err error) {
	if n.name, err = newName(n.name); err != nil {
		return err
	}
	if n.display == "" {
		n.display = n.name
	}
	if err := checkText("display_name", n.display); err != nil {
		return err
	}
	return checkPassword("password", n.password)
}

// userChange is what is to be changed of a user; nil stays as it is.
type userChange struct {
	display  *string
	role     *aigateway.Role
	disabled *bool
	password *string
}

// changeUser changes a user. Who is disabled, or gets a new password, is logged
// out everywhere.
func (a *Accounts) changeUser(c *call, id int64, change userChange) (*aigateway.User, error) {
	hash, err := a.prepare(c, change)
	if err != nil {
		return nil, err
	}
	user, err := a.store.ChangeUser(c.Context(), id, 0, func(u *aigateway.User) error {
		if err := change.allowed(c.user, u); err != nil {
			return err
		}
		u.DisplayName = or(change.display, u.DisplayName)
		u.Role = or(change.role, u.Role)
		u.Disabled = or(change.disabled, u.Disabled)
		if hash != "" {
			u.Password = hash
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.audit("user changed", c.user, user)
	return user, nil
}

// prepare checks the texts of a change and hashes the password, if there is a
// new one.
func (a *Accounts) prepare(c *call, change userChange) (hash string, err error) {
	if err := checkText("display_name", or(change.display, "")); err != nil {
		return "", err
	}
	if change.password == nil {
		return "", nil
	}
	if err := checkPassword("password", *change.password); err != nil {
		return "", err
	}
	return a.hash(c, *change.password)
}

// allowed applies the rules.
func (change userChange) allowed(by, target *aigateway.User) error {
	if !manages(by, target.Role) || !manages(by, or(change.role, target.Role)) {
		return errRole
	}
	if by == nil || by.ID != target.ID {
		return nil
	}
	switch {
	case or(change.disabled, false), or(change.role, target.Role) < target.Role:
		return errSelf
	case change.password != nil:
		return refuse(http.StatusConflict, "this is your own account: change your password at /api/user/self")
	}
	return nil
}

// deleteUser removes a user with all sessions and keys.
func (a *Accounts) deleteUser(ctx context.Context, by *aigateway.User, id int64) error {
	var gone *aigateway.User
	err := a.store.DeleteUser(ctx, id, func(u *aigateway.User) error {
		gone = u
		if !manages(by, u.Role) {
			return errRole
		}
		if by != nil && by.ID == u.ID {
			return errSelf
		}
		return nil
	})
	if err == nil {
		a.audit("user deleted", by, gone)
	}
	return err
}

// audit logs what was done to a user, and by whom: 0 is the administrator of
// the machine, or a registration.
func (a *Accounts) audit(what string, by, user *aigateway.User) {
	var actor int64
	if by != nil {
		actor = by.ID
	}
	a.logger.Info(what, zap.Int64("user_id", user.ID), zap.Int64("by", actor),
		zap.Int("role", int(user.Role)), zap.Bool("disabled", user.Disabled))
}

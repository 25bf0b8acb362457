package accounts

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The rules for changes of users. The administrator of the machine, who is the user nil,
// may make all changes.
//
//   - Administrators manage users with a smaller role, and assign such roles.
//   - Root users manage all users, and assign all roles.
//   - Users cannot disable, delete or demote themselves, and need their old password
//     to change it.
//   - The last enabled root user cannot be disabled, deleted or demoted. The store
//     enforces this rule.

var (
	errRole = refuse(http.StatusForbidden, "this requires a higher role")
	errSelf = refuse(http.StatusConflict, "this is your own account: another administrator must do this")
)

// manages reports whether a user may manage users with a role, and assign it.
func manages(by *aigateway.User, role aigateway.Role) bool {
	return by == nil || by.Role == aigateway.RoleRoot || by.Role >= aigateway.RoleAdmin && by.Role > role
}

// newUser is a user to create.
type newUser struct {
	name, display, password string
	role                    aigateway.Role
}

// createUser creates a user. The user of the call is nil for the administrator of the
// machine and for registrations.
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
	if !manages(c.user, wanted.role) { // the role may have changed during the hash
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

// userChange is a change of a user. Fields that are nil stay unchanged.
type userChange struct {
	display  *string
	role     *aigateway.Role
	disabled *bool
	password *string
}

// changeUser changes a user. The store ends all sessions of a user who is disabled or
// gets a new password.
func (a *Accounts) changeUser(c *call, id int64, change userChange) (*aigateway.User, error) {
	hash, err := a.prepare(c, change)
	if err != nil {
		return nil, err
	}
	user, err := a.store.ChangeUser(c.Context(), id, 0, func(u *aigateway.User) error {
		if err := change.allowed(c.user, u); err != nil {
			return err
		}
		u.DisplayName = valueOr(change.display, u.DisplayName)
		u.Role = valueOr(change.role, u.Role)
		u.Disabled = valueOr(change.disabled, u.Disabled)
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

// prepare checks the texts of a change, and returns the hash of a new password.
func (a *Accounts) prepare(c *call, change userChange) (hash string, err error) {
	if err := checkText("display_name", valueOr(change.display, "")); err != nil {
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

// allowed returns an error if the rules forbid the change.
func (change userChange) allowed(by, target *aigateway.User) error {
	if !manages(by, target.Role) || !manages(by, valueOr(change.role, target.Role)) {
		return errRole
	}
	if by == nil || by.ID != target.ID {
		return nil
	}
	switch {
	case valueOr(change.disabled, false), valueOr(change.role, target.Role) < target.Role:
		return errSelf
	case change.password != nil:
		return refuse(http.StatusConflict, "this is your own account: change your password at /api/user/self")
	}
	return nil
}

// deleteUser deletes a user with all sessions and keys.
func (a *Accounts) deleteUser(ctx context.Context, by *aigateway.User, id int64) error {
	var deleted *aigateway.User
	err := a.store.DeleteUser(ctx, id, func(u *aigateway.User) error {
		deleted = u
		if !manages(by, u.Role) {
			return errRole
		}
		if by != nil && by.ID == u.ID {
			return errSelf
		}
		return nil
	})
	if err == nil {
		a.audit("user deleted", by, deleted)
	}
	return err
}

// audit logs a change of a user, and the ID of the user who made it: 0 for the
// administrator of the machine and for registrations.
func (a *Accounts) audit(message string, by, user *aigateway.User) {
	var actor int64
	if by != nil {
		actor = by.ID
	}
	a.logger.Info(message, zap.Int64("user_id", user.ID), zap.Int64("by", actor),
		zap.Int("role", int(user.Role)), zap.Bool("disabled", user.Disabled))
}

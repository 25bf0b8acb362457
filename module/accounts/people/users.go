package people

import (
	"context"
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ErrNoUser is the problem of a request that names a user who does not exist.
var ErrNoUser = answer.Refuse(http.StatusNotFound, "there is no user with this name")

var errSelf = answer.Refuse(http.StatusConflict, "this is your own account: another administrator must do this")

// ErrOwnPassword is the problem of a change of the own password without the old one.
var ErrOwnPassword = answer.Invalid("original_password is required to change the password")

// ByName returns the user with a name.
func (p *People) ByName(ctx context.Context, name string) (*aigateway.User, error) {
	user, err := p.Find(ctx, name)
	if user == nil && err == nil {
		err = ErrNoUser
	}
	return user, err
}

// Find returns the user with a name, nil if there is none.
func (p *People) Find(ctx context.Context, name string) (*aigateway.User, error) {
	name = call.FoldName(name)
	if !username.MatchString(name) {
		return nil, nil
	}
	user, err := p.Store.UserByName(ctx, name)
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, nil
	}
	return user, err
}

// The rules for changes of users. The administrator of the machine, who is the user nil,
// may make all changes.
//
//   - Administrators manage users with a smaller role, and assign such roles.
//   - Root users manage all users, and assign all roles.
//   - Users cannot disable, delete or demote themselves, and need their old password
//     to change it.
//   - The last enabled root user cannot be disabled, deleted or demoted. The store
//     enforces this rule.

// NewUser is a user to create.
type NewUser struct {
	Name, DisplayName, Password string
	Role                        aigateway.Role
}

// Create creates a user. The user of the call is nil for the administrator of the
// machine and for registrations.
func (p *People) Create(c *call.Call, wanted NewUser) (*aigateway.User, error) {
	if !call.Manages(c.User, wanted.Role) {
		return nil, call.ErrRole
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	hash, err := p.hash(c, wanted.Password)
	if err != nil {
		return nil, err
	}
	if !call.Manages(c.User, wanted.Role) { // the role may have changed during the hash
		return nil, call.ErrRole
	}
	user := &aigateway.User{
		Name: wanted.Name, DisplayName: wanted.DisplayName, Role: wanted.Role, Password: hash,
	}
	if err := p.Store.CreateUser(c.Context(), user); err != nil {
		return nil, err
	}
	return user, nil
}

func (n *NewUser) check() (err error) {
	if n.Name, err = NewName(n.Name); err != nil {
		return err
	}
	if n.DisplayName == "" {
		n.DisplayName = n.Name
	}
	if err := CheckText("display_name", n.DisplayName); err != nil {
		return err
	}
	return checkPassword("password", n.Password)
}

// Register creates a user who has no account, if the configuration allows it.
func (p *People) Register(c *call.Call, wanted NewUser) (*aigateway.User, error) {
	if !p.Registration {
		return nil, answer.Refuse(http.StatusForbidden, "registration is off: ask an administrator for an account")
	}
	if err := call.Require("username", wanted.Name, "password", wanted.Password); err != nil {
		return nil, err
	}
	wanted.Role = aigateway.RoleUser
	if !p.Disabled {
		attempt, wait := p.shared.registrations.Begin(call.Network(c.Address()))
		if attempt == nil {
			return nil, p.throttled(c, wait)
		}
		defer p.shared.registrations.End(attempt, throttle.Failed) // successful registrations count, too
	}
	if p.Reserved != nil && p.Reserved(call.FoldName(wanted.Name)) {
		return nil, aigateway.ErrTaken // as for the name of a user, so that it reveals no more
	}
	return p.Create(c, wanted)
}

// UserChange is a change of a user. Fields that are nil stay unchanged.
type UserChange struct {
	DisplayName *string
	Role        *aigateway.Role
	Disabled    *bool
	Password    *string
	Rules       RuleChange
}

// Change changes a user. The store ends all sessions of a user who is disabled or
// gets a new password.
func (p *People) Change(c *call.Call, id int64, change UserChange) (*aigateway.User, error) {
	hash, err := p.prepare(c, change)
	if err != nil {
		return nil, err
	}
	return p.Store.ChangeUser(c.Context(), id, 0, func(u *aigateway.User) error {
		if err := change.allowed(c.User, u); err != nil {
			return err
		}
		u.DisplayName = call.ValueOr(change.DisplayName, u.DisplayName)
		u.Role = call.ValueOr(change.Role, u.Role)
		u.Disabled = call.ValueOr(change.Disabled, u.Disabled)
		if hash != "" {
			u.Password = hash
		}
		return p.setRules(u, change.Rules)
	})
}

// setRules changes the own rules of a user. It returns an error if a site cannot apply them.
func (p *People) setRules(u *aigateway.User, change RuleChange) error {
	if change.IsEmpty() {
		return nil
	}
	if err := change.Apply(&u.Rules); err != nil || p.Limits == nil {
		return err
	}
	if err := p.Limits.CheckUser(u.Name, aigateway.OwnLimit(aigateway.PerUser, u.Rules)); err != nil {
		return answer.Invalid("%s", err)
	}
	return nil
}

// prepare checks the texts of a change, and returns the hash of a new password.
func (p *People) prepare(c *call.Call, change UserChange) (hash string, err error) {
	if err := CheckText("display_name", call.ValueOr(change.DisplayName, "")); err != nil {
		return "", err
	}
	if change.Password == nil {
		return "", nil
	}
	if err := checkPassword("password", *change.Password); err != nil {
		return "", err
	}
	return p.hash(c, *change.Password)
}

// allowed returns an error if the rules forbid the change.
func (change UserChange) allowed(actor, target *aigateway.User) error {
	if !call.Manages(actor, target.Role) || !call.Manages(actor, call.ValueOr(change.Role, target.Role)) {
		return call.ErrRole
	}
	if actor == nil || actor.ID != target.ID {
		return nil
	}
	switch {
	case call.ValueOr(change.Disabled, false), call.ValueOr(change.Role, target.Role) < target.Role:
		return errSelf
	case change.Password != nil:
		return ErrOwnPassword
	}
	return nil
}

// Delete deletes a user with all sessions and keys.
func (p *People) Delete(c *call.Call, id int64) error {
	return p.Store.DeleteUser(c.Context(), id, func(u *aigateway.User) error {
		if !call.Manages(c.User, u.Role) {
			return call.ErrRole
		}
		if c.User != nil && c.User.ID == u.ID {
			return errSelf
		}
		return nil
	})
}

// SelfChange is a change of the own account. Fields that are nil stay unchanged.
type SelfChange struct {
	DisplayName, Password, Original *string // Original is the old password
}

// ChangeSelf changes the account of the user of the call.
func (p *People) ChangeSelf(c *call.Call, change SelfChange) (*aigateway.User, error) {
	if err := CheckText("display_name", call.ValueOr(change.DisplayName, "")); err != nil {
		return nil, err
	}
	old := c.User.Password
	hash := old
	if change.Password != nil {
		var err error
		if hash, err = p.newPassword(c, *change.Password, call.ValueOr(change.Original, "")); err != nil {
			return nil, err
		}
	}
	renewed := hash != old
	// A new password replaces only the password that was verified, and ends all other sessions.
	return p.Store.ChangeUser(c.Context(), c.User.ID, c.Session.ID, func(u *aigateway.User) error {
		if renewed && u.Password != old {
			return answer.Refuse(http.StatusConflict, "the password has been changed by someone else in the meantime")
		}
		if renewed {
			u.Password = hash
		}
		u.DisplayName = call.ValueOr(change.DisplayName, u.DisplayName)
		return nil
	})
}

// newPassword checks the old password, and returns the hash of the new one. Without
// the check, a stolen session would be enough to take over an account.
func (p *People) newPassword(c *call.Call, password, original string) (string, error) {
	if err := checkPassword("password", password); err != nil {
		return "", err
	}
	if original == "" || len(original) > MaxPassword {
		return "", ErrOwnPassword
	}
	attempt, err := p.beginPasswordChange(c)
	if err != nil {
		return "", err
	}
	right, err := p.check(c, attempt, c.User, original, "user.password")
	if err != nil {
		return "", err
	}
	if !right {
		return "", answer.Refuse(http.StatusForbidden, "original_password is wrong")
	}
	return p.hash(c, password)
}

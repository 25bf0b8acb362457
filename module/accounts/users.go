package accounts

import (
	"context"
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// users are the users of a store, whose changes follow the rules below.
type users struct {
	store     aigateway.Store
	passwords passwords
}

// userView is a user in answers below /api/, with the names of fields that existing
// clients of LLM gateways use. Times are Unix seconds, 0 for never.
type userView struct {
	ID          int64  `json:"id"`
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Role        int    `json:"role"`
	Status      int    `json:"status"`
	Group       string `json:"group"` // always "default"
	Created     int64  `json:"created_at"`
	LastLogin   int64  `json:"last_login_at"`
}

// The status of users and keys.
const (
	enabled  = 1
	disabled = 2
	expired  = 3
)

func viewUser(u *aigateway.User) userView {
	return userView{
		ID: u.ID, Username: u.Name, DisplayName: u.DisplayName, Role: int(u.Role),
		Status: statusOf(u.Disabled), Group: "default",
		Created: answer.Unix(u.Created, 0), LastLogin: answer.Unix(u.LastLogin, 0),
	}
}

// answerUser returns the answer with a user, or the error of getting it.
func answerUser(u *aigateway.User, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return viewUser(u), nil
}

func statusOf(isDisabled bool) int {
	if isDisabled {
		return disabled
	}
	return enabled
}

// list answers GET /api/user/ and GET /api/user/search.
func (u users) list(c *call.Call) (any, error) {
	view, page, err := c.Page()
	if err != nil {
		return nil, err
	}
	found, total, err := u.store.Users(c.Context(), page)
	if err != nil {
		return nil, err
	}
	view.Items, view.Total = answer.Views(found, viewUser), total
	return view, nil
}

// show answers GET /api/user/{id}.
func (u users) show(c *call.Call) (any, error) {
	return answerUser(u.store.User(c.Context(), c.ID()))
}

// add answers POST /api/user/.
func (u users) add(c *call.Call) (any, error) {
	wanted, err := readNewUser(c.Form)
	if err != nil {
		return nil, err
	}
	role, err := readRole(c.Form)
	if err != nil {
		return nil, err
	}
	wanted.role = call.ValueOr(role, aigateway.RoleUser)
	return answerUser(u.create(c, wanted))
}

// readNewUser reads a new user, except for the role.
func readNewUser(f *call.Form) (newUser, error) {
	if err := f.Require("username", "password"); err != nil {
		return newUser{}, err
	}
	wanted := newUser{name: *f.Text("username"), password: *f.Text("password"), display: call.ValueOr(f.Text("display_name"), "")}
	return wanted, f.Err()
}

func readRole(f *call.Form) (*aigateway.Role, error) {
	n := f.Number("role")
	if err := f.Err(); n == nil || err != nil {
		return nil, err
	}
	switch role := aigateway.Role(*n); role {
	case aigateway.RoleUser, aigateway.RoleAdmin, aigateway.RoleRoot:
		return &role, nil
	}
	return nil, answer.Invalid("role must be 1 for a user, 10 for an administrator or 100 for root")
}

// update answers PUT /api/user/, with the id in the body. An empty password counts as
// absent, because clients send it for an unchanged password.
func (u users) update(c *call.Call) (any, error) {
	id, status := c.Form.Number("id"), c.Form.Number("status")
	change := userChange{display: c.Form.Text("display_name"), password: c.Form.Text("password")}
	var err error
	if change.role, err = readRole(c.Form); err != nil {
		return nil, err
	}
	switch {
	case c.Form.Err() != nil:
		return nil, c.Form.Err()
	case id == nil:
		return nil, answer.Invalid("id is required")
	case status != nil && *status != enabled && *status != disabled:
		return nil, answer.Invalid("status must be 1 for enabled or 2 for disabled")
	}
	if status != nil {
		change.disabled = new(*status == disabled)
	}
	if call.ValueOr(change.password, "") == "" {
		change.password = nil
	}
	return answerUser(u.change(c, *id, change))
}

// remove answers DELETE /api/user/{id}.
func (u users) remove(c *call.Call) (any, error) {
	return nil, u.delete(c.Context(), c.User, c.ID())
}

// manage answers POST /api/user/manage.
func (u users) manage(c *call.Call) (any, error) {
	if err := c.Form.Require("action"); err != nil {
		return nil, err
	}
	target, err := u.target(c)
	if err != nil {
		return nil, err
	}
	switch *c.Form.Text("action") {
	case "disable":
		return answerUser(u.change(c, target.ID, userChange{disabled: new(true)}))
	case "enable":
		return answerUser(u.change(c, target.ID, userChange{disabled: new(false)}))
	case "delete":
		return nil, u.delete(c.Context(), c.User, target.ID)
	case "promote":
		if target.Role >= aigateway.RoleAdmin {
			return nil, answer.Refuse(http.StatusConflict, "the user is already an administrator")
		}
		return answerUser(u.change(c, target.ID, userChange{role: new(aigateway.RoleAdmin)}))
	case "demote":
		return answerUser(u.change(c, target.ID, userChange{role: new(aigateway.RoleUser)}))
	}
	return nil, answer.Invalid("action must be disable, enable, delete, promote or demote")
}

// target returns the user that a body identifies by id or username.
func (u users) target(c *call.Call) (*aigateway.User, error) {
	id, name := c.Form.Number("id"), c.Form.Text("username")
	switch {
	case c.Form.Err() != nil:
		return nil, c.Form.Err()
	case id != nil:
		return u.of(c, *id, name)
	case name != nil:
		return u.byName(c, *name)
	}
	return nil, answer.Invalid("id or username is required")
}

// of returns the user with an ID. It refuses a name of another user; name may be nil.
func (u users) of(c *call.Call, id int64, name *string) (*aigateway.User, error) {
	user, err := u.store.User(c.Context(), id)
	if err == nil && name != nil && foldName(*name) != user.Name {
		return nil, answer.Invalid("id and username belong to different users")
	}
	return user, err
}

func (u users) byName(c *call.Call, name string) (*aigateway.User, error) {
	user, err := u.find(c.Context(), foldName(name))
	if user == nil && err == nil {
		err = aigateway.ErrNotFound
	}
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, answer.Refuse(http.StatusNotFound, "there is no user with this name")
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

var errSelf = answer.Refuse(http.StatusConflict, "this is your own account: another administrator must do this")

// newUser is a user to create.
type newUser struct {
	name, display, password string
	role                    aigateway.Role
}

// create creates a user. The user of the call is nil for the administrator of the
// machine and for registrations.
func (u users) create(c *call.Call, wanted newUser) (*aigateway.User, error) {
	if !call.Manages(c.User, wanted.role) {
		return nil, call.ErrRole
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	hash, err := u.passwords.hash(c, wanted.password)
	if err != nil {
		return nil, err
	}
	if !call.Manages(c.User, wanted.role) { // the role may have changed during the hash
		return nil, call.ErrRole
	}
	user := &aigateway.User{
		Name: wanted.name, DisplayName: wanted.display, Role: wanted.role, Password: hash,
	}
	if err := u.store.CreateUser(c.Context(), user); err != nil {
		return nil, err
	}
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

// change changes a user. The store ends all sessions of a user who is disabled or
// gets a new password.
func (u users) change(c *call.Call, id int64, change userChange) (*aigateway.User, error) {
	hash, err := u.prepare(c, change)
	if err != nil {
		return nil, err
	}
	return u.store.ChangeUser(c.Context(), id, 0, func(u *aigateway.User) error {
		if err := change.allowed(c.User, u); err != nil {
			return err
		}
		u.DisplayName = call.ValueOr(change.display, u.DisplayName)
		u.Role = call.ValueOr(change.role, u.Role)
		u.Disabled = call.ValueOr(change.disabled, u.Disabled)
		if hash != "" {
			u.Password = hash
		}
		return nil
	})
}

// prepare checks the texts of a change, and returns the hash of a new password.
func (u users) prepare(c *call.Call, change userChange) (hash string, err error) {
	if err := checkText("display_name", call.ValueOr(change.display, "")); err != nil {
		return "", err
	}
	if change.password == nil {
		return "", nil
	}
	if err := checkPassword("password", *change.password); err != nil {
		return "", err
	}
	return u.passwords.hash(c, *change.password)
}

// allowed returns an error if the rules forbid the change.
func (change userChange) allowed(by, target *aigateway.User) error {
	if !call.Manages(by, target.Role) || !call.Manages(by, call.ValueOr(change.role, target.Role)) {
		return call.ErrRole
	}
	if by == nil || by.ID != target.ID {
		return nil
	}
	switch {
	case call.ValueOr(change.disabled, false), call.ValueOr(change.role, target.Role) < target.Role:
		return errSelf
	case change.password != nil:
		return answer.Refuse(http.StatusConflict, "this is your own account: change your password at /api/user/self")
	}
	return nil
}

// delete deletes a user with all sessions and keys.
func (u users) delete(ctx context.Context, by *aigateway.User, id int64) error {
	return u.store.DeleteUser(ctx, id, func(u *aigateway.User) error {
		if !call.Manages(by, u.Role) {
			return call.ErrRole
		}
		if by != nil && by.ID == u.ID {
			return errSelf
		}
		return nil
	})
}

package accounts

import (
	"context"
	"errors"
	"net/http"
	"time"

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
		Created: unix(u.Created, 0), LastLogin: unix(u.LastLogin, 0),
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

// unix returns a time in Unix seconds, never for the zero time.
func unix(t time.Time, never int64) int64 {
	if t.IsZero() {
		return never
	}
	return t.Unix()
}

// list answers GET /api/user/ and GET /api/user/search.
func (u users) list(c *call) (any, error) {
	view, page, err := c.page()
	if err != nil {
		return nil, err
	}
	found, total, err := u.store.Users(c.Context(), page)
	if err != nil {
		return nil, err
	}
	view.Items, view.Total = views(found, viewUser), total
	return view, nil
}

// show answers GET /api/user/{id}.
func (u users) show(c *call) (any, error) {
	return answerUser(u.store.User(c.Context(), c.id()))
}

// add answers POST /api/user/.
func (u users) add(c *call) (any, error) {
	wanted, err := readNewUser(c.form)
	if err != nil {
		return nil, err
	}
	role, err := readRole(c.form)
	if err != nil {
		return nil, err
	}
	wanted.role = valueOr(role, aigateway.RoleUser)
	return answerUser(u.create(c, wanted))
}

// readNewUser reads a new user, except for the role.
func readNewUser(f *form) (newUser, error) {
	if err := f.require("username", "password"); err != nil {
		return newUser{}, err
	}
	wanted := newUser{name: *f.text("username"), password: *f.text("password"), display: valueOr(f.text("display_name"), "")}
	return wanted, f.err()
}

func readRole(f *form) (*aigateway.Role, error) {
	n := f.number("role")
	if err := f.err(); n == nil || err != nil {
		return nil, err
	}
	switch role := aigateway.Role(*n); role {
	case aigateway.RoleUser, aigateway.RoleAdmin, aigateway.RoleRoot:
		return &role, nil
	}
	return nil, invalid("role must be 1 for a user, 10 for an administrator or 100 for root")
}

// update answers PUT /api/user/, with the id in the body. An empty password counts as
// absent, because clients send it for an unchanged password.
func (u users) update(c *call) (any, error) {
	id, status := c.form.number("id"), c.form.number("status")
	change := userChange{display: c.form.text("display_name"), password: c.form.text("password")}
	var err error
	if change.role, err = readRole(c.form); err != nil {
		return nil, err
	}
	switch {
	case c.form.err() != nil:
		return nil, c.form.err()
	case id == nil:
		return nil, invalid("id is required")
	case status != nil && *status != enabled && *status != disabled:
		return nil, invalid("status must be 1 for enabled or 2 for disabled")
	}
	if status != nil {
		change.disabled = new(*status == disabled)
	}
	if valueOr(change.password, "") == "" {
		change.password = nil
	}
	return answerUser(u.change(c, *id, change))
}

// remove answers DELETE /api/user/{id}.
func (u users) remove(c *call) (any, error) {
	return nil, u.delete(c.Context(), c.user, c.id())
}

// manage answers POST /api/user/manage.
func (u users) manage(c *call) (any, error) {
	if err := c.form.require("action"); err != nil {
		return nil, err
	}
	target, err := u.target(c)
	if err != nil {
		return nil, err
	}
	switch *c.form.text("action") {
	case "disable":
		return answerUser(u.change(c, target.ID, userChange{disabled: new(true)}))
	case "enable":
		return answerUser(u.change(c, target.ID, userChange{disabled: new(false)}))
	case "delete":
		return nil, u.delete(c.Context(), c.user, target.ID)
	case "promote":
		if target.Role >= aigateway.RoleAdmin {
			return nil, refuse(http.StatusConflict, "the user is already an administrator")
		}
		return answerUser(u.change(c, target.ID, userChange{role: new(aigateway.RoleAdmin)}))
	case "demote":
		return answerUser(u.change(c, target.ID, userChange{role: new(aigateway.RoleUser)}))
	}
	return nil, invalid("action must be disable, enable, delete, promote or demote")
}

// target returns the user that a body identifies by id or username.
func (u users) target(c *call) (*aigateway.User, error) {
	id, name := c.form.number("id"), c.form.text("username")
	switch {
	case c.form.err() != nil:
		return nil, c.form.err()
	case id != nil:
		return u.of(c, *id, name)
	case name != nil:
		return u.byName(c, *name)
	}
	return nil, invalid("id or username is required")
}

// of returns the user with an ID. It refuses a name of another user; name may be nil.
func (u users) of(c *call, id int64, name *string) (*aigateway.User, error) {
	user, err := u.store.User(c.Context(), id)
	if err == nil && name != nil && foldName(*name) != user.Name {
		return nil, invalid("id and username belong to different users")
	}
	return user, err
}

func (u users) byName(c *call, name string) (*aigateway.User, error) {
	user, err := u.find(c.Context(), foldName(name))
	if user == nil && err == nil {
		err = aigateway.ErrNotFound
	}
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, refuse(http.StatusNotFound, "there is no user with this name")
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

// create creates a user. The user of the call is nil for the administrator of the
// machine and for registrations.
func (u users) create(c *call, wanted newUser) (*aigateway.User, error) {
	if !manages(c.user, wanted.role) {
		return nil, errRole
	}
	if err := wanted.check(); err != nil {
		return nil, err
	}
	hash, err := u.passwords.hash(c, wanted.password)
	if err != nil {
		return nil, err
	}
	if !manages(c.user, wanted.role) { // the role may have changed during the hash
		return nil, errRole
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
func (u users) change(c *call, id int64, change userChange) (*aigateway.User, error) {
	hash, err := u.prepare(c, change)
	if err != nil {
		return nil, err
	}
	return u.store.ChangeUser(c.Context(), id, 0, func(u *aigateway.User) error {
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
}

// prepare checks the texts of a change, and returns the hash of a new password.
func (u users) prepare(c *call, change userChange) (hash string, err error) {
	if err := checkText("display_name", valueOr(change.display, "")); err != nil {
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

// delete deletes a user with all sessions and keys.
func (u users) delete(ctx context.Context, by *aigateway.User, id int64) error {
	return u.store.DeleteUser(ctx, id, func(u *aigateway.User) error {
		if !manages(by, u.Role) {
			return errRole
		}
		if by != nil && by.ID == u.ID {
			return errSelf
		}
		return nil
	})
}

package accounts

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

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

// listUsers answers GET /api/user/ and GET /api/user/search.
func (a *Accounts) listUsers(c *call) (any, error) {
	view, page, err := c.page()
	if err != nil {
		return nil, err
	}
	found, total, err := a.store.Users(c.Context(), page)
	if err != nil {
		return nil, err
	}
	items := make([]userView, len(found))
	for i := range found {
		items[i] = viewUser(&found[i])
	}
	view.Items, view.Total = items, total
	return view, nil
}

// showUser answers GET /api/user/{id}.
func (a *Accounts) showUser(c *call) (any, error) {
	user, err := a.store.User(c.Context(), c.id())
	if err != nil {
		return nil, err
	}
	return viewUser(user), nil
}

// addUser answers POST /api/user/.
func (a *Accounts) addUser(c *call) (any, error) {
	wanted, err := readNewUser(c.form)
	if err != nil {
		return nil, err
	}
	role, err := readRole(c.form)
	if err != nil {
		return nil, err
	}
	wanted.role = valueOr(role, aigateway.RoleUser)
	user, err := a.createUser(c, wanted)
	if err != nil {
		return nil, err
	}
	return viewUser(user), nil
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

// updateUser answers PUT /api/user/, with the id in the body. An empty password counts as
// absent, because clients send it for an unchanged password.
func (a *Accounts) updateUser(c *call) (any, error) {
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
	return a.changedUser(c, *id, change)
}

func (a *Accounts) changedUser(c *call, id int64, change userChange) (any, error) {
	user, err := a.changeUser(c, id, change)
	if err != nil {
		return nil, err
	}
	return viewUser(user), nil
}

// removeUser answers DELETE /api/user/{id}.
func (a *Accounts) removeUser(c *call) (any, error) {
	return nil, a.deleteUser(c.Context(), c.user, c.id())
}

// manageUser answers POST /api/user/manage.
func (a *Accounts) manageUser(c *call) (any, error) {
	if err := c.form.require("action"); err != nil {
		return nil, err
	}
	target, err := a.target(c)
	if err != nil {
		return nil, err
	}
	switch *c.form.text("action") {
	case "disable":
		return a.changedUser(c, target.ID, userChange{disabled: new(true)})
	case "enable":
		return a.changedUser(c, target.ID, userChange{disabled: new(false)})
	case "delete":
		return nil, a.deleteUser(c.Context(), c.user, target.ID)
	case "promote":
		if target.Role >= aigateway.RoleAdmin {
			return nil, refuse(http.StatusConflict, "the user is already an administrator")
		}
		return a.changedUser(c, target.ID, userChange{role: new(aigateway.RoleAdmin)})
	case "demote":
		return a.changedUser(c, target.ID, userChange{role: new(aigateway.RoleUser)})
	}
	return nil, invalid("action must be disable, enable, delete, promote or demote")
}

// target returns the user that a body identifies by id or username.
func (a *Accounts) target(c *call) (*aigateway.User, error) {
	id, name := c.form.number("id"), c.form.text("username")
	switch {
	case c.form.err() != nil:
		return nil, c.form.err()
	case id != nil:
		return a.userOf(c, *id, name)
	case name != nil:
		return a.userByName(c, *name)
	}
	return nil, invalid("id or username is required")
}

// userOf returns the user with an ID. It refuses a name of another user; name may be nil.
func (a *Accounts) userOf(c *call, id int64, name *string) (*aigateway.User, error) {
	user, err := a.store.User(c.Context(), id)
	if err == nil && name != nil && foldName(*name) != user.Name {
		return nil, invalid("id and username belong to different users")
	}
	return user, err
}

func (a *Accounts) userByName(c *call, name string) (*aigateway.User, error) {
	user, err := a.lookUp(c.Context(), foldName(name))
	if user == nil && err == nil {
		err = aigateway.ErrNotFound
	}
	if errors.Is(err, aigateway.ErrNotFound) {
		return nil, refuse(http.StatusNotFound, "there is no user with this name")
	}
	return user, err
}

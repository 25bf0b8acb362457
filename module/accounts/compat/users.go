package compat

import (
	"errors"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// users serves the accounts of users to administrators.
type users struct{ people *people.People }

func (u users) list(c *call.Call) (any, error) {
	view, page, err := readPage(c)
	if err != nil {
		return nil, err
	}
	found, total, err := u.people.Store.Users(c.Context(), page)
	if err != nil {
		return nil, err
	}
	view.Items, view.Total = answer.Views(found, answer.ViewUser), total
	return view, nil
}

func (u users) show(c *call.Call) (any, error) {
	return answerUser(u.people.Store.User(c.Context(), c.ID()))
}

// newUser are the members of a new user.
type newUser struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Password    string `json:"password"`
	Role        *int64 `json:"role"`
}

func (u users) add(c *call.Call, fields newUser) (any, error) {
	if err := call.Require("username", fields.Username, "password", fields.Password); err != nil {
		return nil, err
	}
	role, err := roleOf(fields.Role)
	if err != nil {
		return nil, err
	}
	return answerUser(u.people.Create(c, people.NewUser{
		Name: fields.Username, DisplayName: fields.DisplayName, Password: fields.Password, Role: call.ValueOr(role, aigateway.RoleUser),
	}))
}

// roleOf returns the role with a number, nil for none.
func roleOf(n *int64) (*aigateway.Role, error) {
	if n == nil {
		return nil, nil
	}
	switch role := aigateway.Role(*n); role {
	case aigateway.RoleUser, aigateway.RoleAdmin, aigateway.RoleRoot:
		return &role, nil
	}
	return nil, answer.Invalid("role must be 1 for a user, 10 for an administrator or 100 for root")
}

// userFields are the members of a change of a user. An empty password counts as absent, because
// clients send it for an unchanged password.
type userFields struct {
	ID          *int64  `json:"id"`
	DisplayName *string `json:"display_name"`
	Password    *string `json:"password"`
	Role        *int64  `json:"role"`
	Status      *int64  `json:"status"`
}

func (u users) update(c *call.Call, fields userFields) (any, error) {
	role, err := roleOf(fields.Role)
	switch {
	case err != nil:
		return nil, err
	case fields.ID == nil:
		return nil, answer.Invalid("id is required")
	case fields.Status != nil && *fields.Status != answer.Enabled && *fields.Status != answer.Disabled:
		return nil, answer.Invalid("status must be 1 for enabled or 2 for disabled")
	}
	change := people.UserChange{DisplayName: fields.DisplayName, Role: role, Password: unlessEmpty(fields.Password)}
	if fields.Status != nil {
		change.Disabled = new(*fields.Status == answer.Disabled)
	}
	user, err := u.people.Change(c, *fields.ID, change)
	if errors.Is(err, people.ErrOwnPassword) {
		err = answer.Refuse(http.StatusConflict, "this is your own account: change your password at /api/user/self")
	}
	return answerUser(user, err)
}

func (u users) remove(c *call.Call) (any, error) { return nil, u.people.Delete(c, c.ID()) }

// action are the members of a request that manages a user, who is named by an ID or a username.
type action struct {
	Action   string  `json:"action"`
	ID       *int64  `json:"id"`
	Username *string `json:"username"`
}

func (u users) manage(c *call.Call, wanted action) (any, error) {
	if err := call.Require("action", wanted.Action); err != nil {
		return nil, err
	}
	user, err := u.named(c, wanted)
	if err != nil {
		return nil, err
	}
	var change people.UserChange
	switch wanted.Action {
	case "disable":
		change.Disabled = new(true)
	case "enable":
		change.Disabled = new(false)
	case "delete":
		return nil, u.people.Delete(c, user.ID)
	case "promote":
		if user.Role >= aigateway.RoleAdmin {
			return nil, answer.Refuse(http.StatusConflict, "the user is already an administrator")
		}
		change.Role = new(aigateway.RoleAdmin)
	case "demote":
		change.Role = new(aigateway.RoleUser)
	default:
		return nil, answer.Invalid("action must be disable, enable, delete, promote or demote")
	}
	return answerUser(u.people.Change(c, user.ID, change))
}

// named returns the user of an action. It refuses a name of another user than that with the ID.
func (u users) named(c *call.Call, wanted action) (*aigateway.User, error) {
	if wanted.ID == nil && wanted.Username == nil {
		return nil, answer.Invalid("id or username is required")
	}
	if wanted.ID == nil {
		return u.people.ByName(c.Context(), *wanted.Username)
	}
	user, err := u.people.Store.User(c.Context(), *wanted.ID)
	if err == nil && wanted.Username != nil && call.FoldName(*wanted.Username) != user.Name {
		return nil, answer.Invalid("id and username belong to different users")
	}
	return user, err
}

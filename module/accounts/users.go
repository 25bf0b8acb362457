package accounts

import (
	"crypto/rand"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// users serves the accounts of users. Users see and change their own, administrators all.
type users struct{ people *people.People }

func viewUser(u *aigateway.User) api.User {
	return api.User{
		ID: u.ID, Username: u.Name, DisplayName: u.DisplayName, Role: u.Role.String(), Disabled: u.Disabled, Rules: viewRules(&u.Rules),
		Created: answer.Time(u.Created), LastLogin: answer.OptionalTime(u.LastLogin),
	}
}

// answerUser returns the answer with a user and a generated password, or the error of getting it.
func answerUser(u *aigateway.User, generated string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	view := viewUser(u)
	view.Password = generated
	return view, nil
}

// named returns the user that the path names. For users who are no administrators, others do not
// exist.
func (u users) named(c *call.Call) (*aigateway.User, error) {
	name := call.FoldName(c.PathValue("name"))
	if !c.IsAdmin() && name != c.User.Name {
		return nil, people.ErrNoUser
	}
	return u.people.ByName(c.Context(), name)
}

// managed is named for what is worth as much as a password: administrators see and change it of
// users whom they manage, and users their own.
func (u users) managed(c *call.Call) (*aigateway.User, error) {
	user, err := u.named(c)
	if err == nil && !call.ManagesKeysOf(c.User, user) {
		err = call.ErrRole
	}
	return user, err
}

// list answers GET /api/v1/users.
func (u users) list(c *call.Call) (any, error) {
	page, err := c.Page(aigateway.UserOrders...)
	if err != nil {
		return nil, err
	}
	found, total, err := u.people.Store.Users(c.Context(), page)
	if err != nil {
		return nil, err
	}
	return call.Listed(page, answer.Views(found, viewUser), total), nil
}

// show answers GET /api/v1/users/{name}.
func (u users) show(c *call.Call) (any, error) {
	user, err := u.named(c)
	return answerUser(user, "", err)
}

// teams answers GET /api/v1/users/{name}/teams.
func (u users) teams(c *call.Call) (any, error) {
	user, err := u.named(c)
	if err != nil {
		return nil, err
	}
	found, err := u.people.Store.Teams().Of(c.Context(), user.ID)
	if err != nil {
		return nil, err
	}
	return api.List(answer.Views(found, func(m *aigateway.Membership) api.Membership {
		return api.Membership{Team: m.Name, Admin: m.Admin}
	})), nil
}

// newUser is the body of a request for a new user. Without a password, one is generated.
type newUser struct {
	Username    string  `json:"username"`
	DisplayName string  `json:"display_name"`
	Role        string  `json:"role"`
	Password    *string `json:"password"`
}

// add answers POST /api/v1/users.
func (u users) add(c *call.Call, wanted newUser) (any, error) {
	if err := call.Require("username", wanted.Username); err != nil {
		return nil, err
	}
	role, err := roleOf(&wanted.Role)
	if err != nil {
		return nil, err
	}
	password, generated := orGenerated(wanted.Password)
	user, err := u.people.Create(c, people.NewUser{
		Name: wanted.Username, DisplayName: wanted.DisplayName, Password: password, Role: call.ValueOr(role, aigateway.RoleUser),
	})
	return answerUser(user, generated, err)
}

// roleOf returns the role with a name, nil for none.
func roleOf(name *string) (*aigateway.Role, error) {
	if call.ValueOr(name, "") == "" {
		return nil, nil
	}
	for _, role := range []aigateway.Role{aigateway.RoleUser, aigateway.RoleAdmin, aigateway.RoleRoot} {
		if role.String() == *name {
			return &role, nil
		}
	}
	return nil, answer.Invalid("role must be user, admin or root")
}

// orGenerated returns a password, or generates one of 130 random bits.
func orGenerated(given *string) (password, generated string) {
	if given == nil {
		generated = rand.Text()
	}
	return call.ValueOr(given, generated), generated
}

// registration is the body of a request of somebody who has no account.
type registration struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Password    string `json:"password"`
}

// register answers POST /api/v1/registration.
func (u users) register(c *call.Call, wanted registration) (any, error) {
	user, err := u.people.Register(c, people.NewUser{Name: wanted.Username, DisplayName: wanted.DisplayName, Password: wanted.Password})
	return answerUser(user, "", err)
}

// userChange is the body of a change of a user. Absent members stay unchanged.
type userChange struct {
	DisplayName *string `json:"display_name"`
	Role        *string `json:"role"`
	Disabled    *bool   `json:"disabled"`
	people.RuleFields
}

// change answers PATCH /api/v1/users/{name}. Users change their own display name alone.
func (u users) change(c *call.Call, change userChange) (any, error) {
	role, err := roleOf(change.Role)
	if err != nil {
		return nil, err
	}
	rules, err := change.RuleFields.Read()
	if err != nil {
		return nil, err
	}
	user, err := u.named(c)
	if err != nil {
		return nil, err
	}
	if isOwn(c, user) && role == nil && change.Disabled == nil && rules.IsEmpty() {
		user, err = u.people.ChangeSelf(c, people.SelfChange{DisplayName: change.DisplayName})
	} else {
		user, err = u.people.Change(c, user.ID, people.UserChange{DisplayName: change.DisplayName, Role: role, Disabled: change.Disabled, Rules: rules})
	}
	return answerUser(user, "", err)
}

// isOwn reports whether a user makes the call.
func isOwn(c *call.Call, user *aigateway.User) bool { return c.User != nil && c.User.ID == user.ID }

// newPassword is the body of a request for a new password. Without one, it is generated.
type newPassword struct {
	Password *string `json:"password"`
	Original *string `json:"original_password"` // of the own account
}

// setPassword answers POST /api/v1/users/{name}/password.
func (u users) setPassword(c *call.Call, wanted newPassword) (any, error) {
	user, err := u.named(c)
	if err != nil {
		return nil, err
	}
	password, generated := orGenerated(wanted.Password)
	if isOwn(c, user) {
		user, err = u.people.ChangeSelf(c, people.SelfChange{Password: &password, Original: wanted.Original})
	} else {
		user, err = u.people.Change(c, user.ID, people.UserChange{Password: &password})
	}
	return answerUser(user, generated, err)
}

// remove answers DELETE /api/v1/users/{name}.
func (u users) remove(c *call.Call) (any, error) {
	user, err := u.named(c)
	if err != nil {
		return nil, err
	}
	return nil, u.people.Delete(c, user.ID)
}

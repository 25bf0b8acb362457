package accounts

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// machine answers administrators: of the machine, and of keys.
type machine struct {
	users users
	keys  keys
}

// adminUser is a user in answers for the administrator of the machine.
type adminUser struct {
	ID          int64      `json:"id"`
	Username    string     `json:"username"`
	DisplayName string     `json:"display_name"`
	Role        string     `json:"role"` // user, admin or root
	Disabled    bool       `json:"disabled"`
	Created     time.Time  `json:"created"`
	LastLogin   *time.Time `json:"last_login"` // null: never
	// Password is a generated password. Only the answer to its generation contains it.
	Password string `json:"password,omitempty"`
}

var roleWords = map[string]aigateway.Role{
	"user": aigateway.RoleUser, "admin": aigateway.RoleAdmin, "root": aigateway.RoleRoot,
}

func viewAdminUser(u *aigateway.User) adminUser {
	return adminUser{
		ID: u.ID, Username: u.Name, DisplayName: u.DisplayName, Role: u.Role.String(), Disabled: u.Disabled,
		Created: answer.Time(u.Created), LastLogin: answer.OptionalTime(u.LastLogin),
	}
}

// listUsers answers GET /ai_gateway/users. The query may restrict the list to
// names that contain a text (search).
func (m machine) listUsers(c *call.Call) (any, error) {
	list := []adminUser{}
	err := eachPage(c, func(page aigateway.Page) (int, error) {
		found, _, err := m.users.store.Users(c.Context(), page)
		for i := range found {
			list = append(list, viewAdminUser(&found[i]))
		}
		return len(found), err
	})
	return list, err
}

// eachPage reads a whole list, page by page.
func eachPage(c *call.Call, read func(aigateway.Page) (int, error)) error {
	page := aigateway.Page{Search: c.URL.Query().Get("search"), Limit: 1000}
	if len(page.Search) > call.MaxKeyword {
		return answer.Invalid("search must be at most %d bytes", call.MaxKeyword)
	}
	for {
		n, err := read(page)
		if err != nil || n < page.Limit {
			return err
		}
		page.Offset += n
	}
}

// addUser answers POST /ai_gateway/users. If the body has no password, the answer
// contains a generated one.
func (m machine) addUser(c *call.Call) (any, error) {
	if err := c.Form.Require("username"); err != nil {
		return nil, err
	}
	display := c.Form.Text("display_name")
	role, err := readRoleWord(c.Form)
	if err != nil {
		return nil, err
	}
	password, generated, err := readOrGenerate(c.Form)
	if err != nil {
		return nil, err
	}
	user, err := m.users.create(c, newUser{
		name: *c.Form.Text("username"), display: call.ValueOr(display, ""),
		password: password, role: call.ValueOr(role, aigateway.RoleUser),
	})
	if err != nil {
		return nil, err
	}
	view := viewAdminUser(user)
	view.Password = generated
	return view, nil
}

func readRoleWord(f *call.Form) (*aigateway.Role, error) {
	word := f.Text("role")
	if err := f.Err(); word == nil || err != nil {
		return nil, err
	}
	role, ok := roleWords[*word]
	if !ok {
		return nil, answer.Invalid("role must be user, admin or root")
	}
	return &role, nil
}

// readOrGenerate reads a password, or generates one of 130 random bits.
func readOrGenerate(f *call.Form) (password, generated string, err error) {
	given := f.Text("password")
	if given == nil {
		generated = rand.Text()
	}
	return call.ValueOr(given, generated), generated, f.Err()
}

// showUser answers GET /ai_gateway/users/{name}.
func (m machine) showUser(c *call.Call) (any, error) {
	user, err := m.users.byName(c, c.PathValue)
	if err != nil {
		return nil, err
	}
	return viewAdminUser(user), nil
}

// changeUser answers PATCH /ai_gateway/users/{name}.
func (m machine) changeUser(c *call.Call) (any, error) {
	change := userChange{display: c.Form.Text("display_name"), disabled: c.Form.Flag("disabled")}
	var err error
	if change.role, err = readRoleWord(c.Form); err != nil {
		return nil, err
	}
	return m.changed(c, change, "")
}

// setPassword answers POST /ai_gateway/users/{name}/password. If the body has no
// password, the answer contains a generated one.
func (m machine) setPassword(c *call.Call) (any, error) {
	password, generated, err := readOrGenerate(c.Form)
	if err != nil {
		return nil, err
	}
	return m.changed(c, userChange{password: &password}, generated)
}

func (m machine) changed(c *call.Call, change userChange, generated string) (any, error) {
	user, err := m.users.byName(c, c.PathValue)
	if err != nil {
		return nil, err
	}
	if user, err = m.users.change(c, user.ID, change); err != nil {
		return nil, err
	}
	view := viewAdminUser(user)
	view.Password = generated
	return view, nil
}

// removeUser answers DELETE /ai_gateway/users/{name}.
func (m machine) removeUser(c *call.Call) (any, error) {
	user, err := m.users.byName(c, c.PathValue)
	if err != nil {
		return nil, err
	}
	return nil, m.users.delete(c.Context(), nil, user.ID)
}

// byID returns a function that returns users by ID. It reads each user once from the
// store.
func (u users) byID(ctx context.Context) func(int64) (*aigateway.User, error) {
	users := make(map[int64]*aigateway.User)
	return func(id int64) (*aigateway.User, error) {
		if user, ok := users[id]; ok {
			return user, nil
		}
		user, err := u.store.User(ctx, id)
		if err == nil {
			users[id] = user
		}
		return user, err
	}
}

package accounts

import (
	"context"
	"crypto/rand"
	"time"

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
		Created: clampTime(u.Created), LastLogin: optionalTime(u.LastLogin),
	}
}

// optionalTime returns a time in UTC, nil for the zero time.
func optionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(clampTime(t))
}

// clampTime returns a time in UTC. It replaces times outside the years that JSON can
// represent: another program may have stored one, and lists must not fail because of
// it.
func clampTime(t time.Time) time.Time {
	t = t.UTC()
	switch {
	case t.Year() < 0:
		return time.Time{}
	case t.Year() > 9999:
		return time.Unix(aigateway.LatestDate, 0).UTC()
	}
	return t
}

// listUsers answers GET /ai_gateway/users. The query may restrict the list to
// names that contain a text (search).
func (m machine) listUsers(c *call) (any, error) {
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
func eachPage(c *call, read func(aigateway.Page) (int, error)) error {
	page := aigateway.Page{Search: c.URL.Query().Get("search"), Limit: 1000}
	if len(page.Search) > maxKeyword {
		return invalid("search must be at most %d bytes", maxKeyword)
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
func (m machine) addUser(c *call) (any, error) {
	if err := c.form.require("username"); err != nil {
		return nil, err
	}
	display := c.form.text("display_name")
	role, err := readRoleWord(c.form)
	if err != nil {
		return nil, err
	}
	password, generated, err := readOrGenerate(c.form)
	if err != nil {
		return nil, err
	}
	user, err := m.users.create(c, newUser{
		name: *c.form.text("username"), display: valueOr(display, ""),
		password: password, role: valueOr(role, aigateway.RoleUser),
	})
	if err != nil {
		return nil, err
	}
	view := viewAdminUser(user)
	view.Password = generated
	return view, nil
}

func readRoleWord(f *form) (*aigateway.Role, error) {
	word := f.text("role")
	if err := f.err(); word == nil || err != nil {
		return nil, err
	}
	role, ok := roleWords[*word]
	if !ok {
		return nil, invalid("role must be user, admin or root")
	}
	return &role, nil
}

// readOrGenerate reads a password, or generates one of 130 random bits.
func readOrGenerate(f *form) (password, generated string, err error) {
	given := f.text("password")
	if given == nil {
		generated = rand.Text()
	}
	return valueOr(given, generated), generated, f.err()
}

// showUser answers GET /ai_gateway/users/{name}.
func (m machine) showUser(c *call) (any, error) {
	user, err := m.users.byName(c, c.pathValue)
	if err != nil {
		return nil, err
	}
	return viewAdminUser(user), nil
}

// changeUser answers PATCH /ai_gateway/users/{name}.
func (m machine) changeUser(c *call) (any, error) {
	change := userChange{display: c.form.text("display_name"), disabled: c.form.flag("disabled")}
	var err error
	if change.role, err = readRoleWord(c.form); err != nil {
		return nil, err
	}
	return m.changed(c, change, "")
}

// setPassword answers POST /ai_gateway/users/{name}/password. If the body has no
// password, the answer contains a generated one.
func (m machine) setPassword(c *call) (any, error) {
	password, generated, err := readOrGenerate(c.form)
	if err != nil {
		return nil, err
	}
	return m.changed(c, userChange{password: &password}, generated)
}

func (m machine) changed(c *call, change userChange, generated string) (any, error) {
	user, err := m.users.byName(c, c.pathValue)
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
func (m machine) removeUser(c *call) (any, error) {
	user, err := m.users.byName(c, c.pathValue)
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

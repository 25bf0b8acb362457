package accounts

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// The IDs of the users in the tests of roles.
const (
	rootID = iota + 1
	otherRootID
	adminID
	otherAdminID
	userID
	otherUserID
)

// hierarchy returns a site with two users of each role.
func hierarchy(t *testing.T) *site {
	s := newSite(t, nil)
	for _, u := range []struct {
		name string
		role aigateway.Role
	}{
		{"root", aigateway.RoleRoot}, {"root2", aigateway.RoleRoot},
		{"admin", aigateway.RoleAdmin}, {"admin2", aigateway.RoleAdmin},
		{"user", aigateway.RoleUser}, {"user2", aigateway.RoleUser},
	} {
		s.user(u.name, u.role)
	}
	return s
}

const (
	onlyAdmins   = "only administrators may do this"
	greaterRole  = "this requires a higher role"
	selfConflict = "this is your own account: another administrator must do this"
)

func manage(id int, action string) string { return fmt.Sprintf(`{"id":%d,"action":"%s"}`, id, action) }

// Each row uses a new site, so that the rows are independent.
func TestRolesRestrictChangesOfUsers(t *testing.T) {
	const do = "POST /api/user/manage"
	for _, c := range []struct {
		by, call, body string
		status         int
		message        string
	}{
		{"user", "GET /api/user/", "", 403, onlyAdmins},
		{"user", "GET /api/user/search", "", 403, onlyAdmins},
		{"user", fmt.Sprintf("GET /api/user/%d", userID), "", 403, onlyAdmins},
		{"user", "POST /api/user/", credentials("new", password), 403, onlyAdmins},
		{"user", "PUT /api/user/", `{"id":6,"display_name":"x"}`, 403, onlyAdmins},
		{"user", do, manage(otherUserID, "disable"), 403, onlyAdmins},
		{"user", do, manage(userID, "promote"), 403, onlyAdmins},
		{"user", fmt.Sprintf("DELETE /api/user/%d", otherUserID), "", 403, onlyAdmins},

		{"admin", "GET /api/user/", "", 200, ""},
		{"admin", "GET /api/user", "", 200, ""},
		{"admin", fmt.Sprintf("GET /api/user/%d", rootID), "", 200, ""},
		{"admin", "POST /api/user/", credentials("new", password), 200, ""},
		{"admin", "POST /api/user/", `{"username":"new","password":"correct horse","role":10}`, 403, greaterRole},
		{"admin", "POST /api/user/", `{"username":"new","password":"correct horse","role":100}`, 403, greaterRole},
		{"admin", do, manage(userID, "disable"), 200, ""},
		{"admin", do, manage(userID, "enable"), 200, ""},
		{"admin", do, manage(userID, "delete"), 200, ""},
		{"admin", do, `{"username":"USER","action":"disable"}`, 200, ""},
		// The gateway once chose one of the two users silently.
		{"admin", do, `{"id":5,"username":"user2","action":"delete"}`, 400, "id and username belong to different users"},
		{"admin", do, `{"id":5,"username":"USER","action":"disable"}`, 200, ""},
		{"admin", do, manage(userID, "promote"), 403, greaterRole},
		{"admin", do, manage(userID, "demote"), 200, ""},
		{"admin", do, manage(otherAdminID, "disable"), 403, greaterRole},
		{"admin", do, manage(otherAdminID, "demote"), 403, greaterRole},
		{"admin", do, manage(rootID, "delete"), 403, greaterRole},
		{"admin", do, manage(adminID, "disable"), 403, greaterRole},
		{"admin", do, manage(adminID, "promote"), 409, "the user is already an administrator"},
		{"admin", "PUT /api/user/", `{"id":5,"password":"another horse"}`, 200, ""},
		{"admin", "PUT /api/user/", `{"id":5,"role":10}`, 403, greaterRole},
		{"admin", "PUT /api/user/", `{"id":4,"display_name":"x"}`, 403, greaterRole},
		{"admin", "PUT /api/user/", `{"id":1,"password":"another horse"}`, 403, greaterRole},
		{"admin", fmt.Sprintf("DELETE /api/user/%d", userID), "", 200, ""},
		{"admin", fmt.Sprintf("DELETE /api/user/%d", otherAdminID), "", 403, greaterRole},
		{"admin", fmt.Sprintf("DELETE /api/user/%d", adminID), "", 403, greaterRole},

		{"root", do, manage(userID, "promote"), 200, ""},
		{"root", do, manage(adminID, "demote"), 200, ""},
		{"root", do, manage(otherRootID, "disable"), 200, ""},
		{"root", do, manage(otherRootID, "demote"), 200, ""},
		{"root", do, manage(otherRootID, "promote"), 409, "the user is already an administrator"},
		{"root", do, manage(rootID, "disable"), 409, selfConflict},
		{"root", do, manage(rootID, "delete"), 409, selfConflict},
		{"root", do, manage(rootID, "demote"), 409, selfConflict},
		{"root", do, manage(rootID, "enable"), 200, ""},
		{"root", "PUT /api/user/", `{"id":1,"role":10}`, 409, selfConflict},
		{"root", "PUT /api/user/", `{"id":1,"status":2}`, 409, selfConflict},
		{"root", "PUT /api/user/", `{"id":1,"password":"another horse"}`, 409, "this is your own account: change your password at /api/user/self"},
		{"root", "PUT /api/user/", `{"id":1,"display_name":"The Root","role":100}`, 200, ""},
		{"root", "POST /api/user/", `{"username":"new","password":"correct horse","role":100}`, 200, ""},
		{"root", fmt.Sprintf("DELETE /api/user/%d", otherRootID), "", 200, ""},
		{"root", fmt.Sprintf("DELETE /api/user/%d", rootID), "", 409, selfConflict},
	} {
		t.Run(c.by+" "+c.call+" "+c.body, func(t *testing.T) {
			s := hierarchy(t)
			answer := s.ask(testRequest{call: c.call, body: c.body, token: s.token(c.by)})
			assert.Equal(t, c.status, answer.status, answer.body)
			if c.message != "" {
				assert.Equal(t, failure(c.message), answer.body)
			}
		})
	}
}

func TestFieldsOfUsersAreChecked(t *testing.T) {
	s := hierarchy(t)
	root := s.token("root")
	const bounds = "password must be 8 to 1024 bytes"
	const name = "username must be 1 to 64 letters, digits or ._@+- with a letter or digit first"
	const display = "display_name must be at most 64 printable characters"
	for _, c := range []struct {
		call, body string
		status     int
		message    string
	}{
		{"POST /api/user/", `{}`, 400, "username and password are required"},
		{"POST /api/user/", credentials("new", "short"), 400, bounds},
		{"POST /api/user/", credentials("new", strings.Repeat("x", 1025)), 400, bounds},
		{"POST /api/user/", credentials(".new", password), 400, name},
		{"POST /api/user/", credentials("né", password), 400, name},
		{"POST /api/user/", credentials("a b", password), 400, name},
		{"POST /api/user/", credentials("a/b", password), 400, name},
		{"POST /api/user/", credentials(strings.Repeat("a", 65), password), 400, name},
		{"POST /api/user/", credentials("USER", password), 409, "the username is taken"},
		{"POST /api/user/", `{"username":"new","password":"correct horse","display_name":"a\u0007b"}`, 400, display},
		{"POST /api/user/", `{"username":"new","password":"correct horse","display_name":"` + strings.Repeat("é", 65) + `"}`, 400, display},
		{"POST /api/user/", `{"username":"new","password":"correct horse","display_name":7}`, 400, "display_name must be a string"},
		{"POST /api/user/", `{"username":"new","password":"correct horse","role":5}`, 400, "role must be 1 for a user, 10 for an administrator or 100 for root"},
		{"POST /api/user/", `{"username":"new","password":"correct horse","role":"root"}`, 400, "role must be a whole number"},
		{"POST /api/user/", `{"username":"new","password":"correct horse","role":1.5}`, 400, "role must be a whole number"},
		{"PUT /api/user/", `{"role":1}`, 400, "id is required"},
		{"PUT /api/user/", `{"id":"5"}`, 400, "id must be a whole number"},
		{"PUT /api/user/", `{"id":5,"status":3}`, 400, "status must be 1 for enabled or 2 for disabled"},
		{"PUT /api/user/", `{"id":5,"password":"short"}`, 400, bounds},
		{"PUT /api/user/", `{"id":-5,"role":1}`, 404, "not found"},
		{"POST /api/user/manage", `{}`, 400, "action is required"},
		{"POST /api/user/manage", `{"action":"disable"}`, 400, "id or username is required"},
		{"POST /api/user/manage", `{"id":5,"action":"explode"}`, 400, "action must be disable, enable, delete, promote or demote"},
		{"POST /api/user/manage", `{"username":"nobody","action":"disable"}`, 404, "there is no user with this name"},
		{"PUT /api/user/self", `{"display_name":"\u202e"}`, 400, display},
		{"PUT /api/user/self", `{"password":"another horse"}`, 400, "original_password is required to change the password"},
		{"PUT /api/user/self", `{"password":"short","original_password":"correct horse"}`, 400, bounds},
		{"PUT /api/user/self", `{"password":"another horse","original_password":"wrong horse"}`, 403, "original_password is wrong"},
		{"GET /api/user/?p=1.5", "", 400, "p must be a whole number"},
		{"GET /api/user/?page_size=x", "", 400, "page_size must be a whole number"},
		{"GET /api/user/?p=9223372036854775807", "", 400, "p must be at most 1000000, and keyword at most 256 bytes"},
	} {
		answer := s.ask(testRequest{call: c.call, body: c.body, token: root})
		assert.Equal(t, c.status, answer.status, "%s %s", c.call, c.body)
		assert.Equal(t, failure(c.message), answer.body, "%s %s", c.call, c.body)
	}
}

func TestUsersAreListedInPages(t *testing.T) {
	s := hierarchy(t)
	admin := s.token("admin")
	for query, want := range map[string]struct {
		names      []string
		page, size float64
	}{
		"":                    {[]string{"root", "root2", "admin", "admin2", "user", "user2"}, 1, 20},
		"?p=0":                {[]string{"root", "root2", "admin", "admin2", "user", "user2"}, 1, 20},
		"?p=2&size=4":         {[]string{"user", "user2"}, 2, 4},
		"?page=2&page_size=4": {[]string{"user", "user2"}, 2, 4},
		"?p=9":                {nil, 9, 20},
		"?p=-1&size=-1":       {[]string{"root"}, 1, 1}, // as 0; a negative number was called no whole number
		"?size=1000":          {[]string{"root", "root2", "admin", "admin2", "user", "user2"}, 1, 100},
		"?keyword=MIN":        {[]string{"admin", "admin2"}, 1, 20},
		"?keyword=%25":        {nil, 1, 20},
	} {
		data := s.ask(testRequest{call: "GET /api/user/search" + query, token: admin}).data(t)
		var names []string
		for _, item := range data["items"].([]any) {
			names = append(names, item.(map[string]any)["username"].(string))
		}
		assert.Equal(t, want.names, names, query)
		assert.Equal(t, want.page, data["page"], query)
		assert.Equal(t, want.size, data["page_size"], query)
		if len(want.names) > 2 {
			assert.EqualValues(t, 6, data["total"], query)
		}
	}
}

// In older services, the role is in the cookie, so that a ban takes effect with the next
// login.
func TestRolesAndBansTakeEffectWithTheNextRequest(t *testing.T) {
	s := hierarchy(t)
	root, admin := s.token("root"), s.token("admin")
	do := func(body string) {
		require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/user/manage", body: body, token: root}).status)
	}
	list := func() int { return s.ask(testRequest{call: "GET /api/user/", token: admin}).status }
	assert.Equal(t, http.StatusOK, list())
	do(manage(adminID, "demote"))
	assert.Equal(t, http.StatusForbidden, list())
	do(manage(adminID, "promote"))
	assert.Equal(t, http.StatusOK, list())
	do(manage(adminID, "disable"))
	assert.Equal(t, http.StatusUnauthorized, list())
	do(manage(adminID, "enable"))
	assert.Equal(t, http.StatusUnauthorized, list(), "the sessions of a disabled user have ended")
}

// Clients send the unchanged status of a user. A change of the name once ended all
// sessions of the user.
func TestStatusThatStaysEndsNoSession(t *testing.T) {
	s := hierarchy(t)
	root, user := s.token("root"), s.token("user")
	answer := s.ask(testRequest{call: "PUT /api/user/", body: `{"id":5,"display_name":"x","status":1}`, token: root})
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: selfCall, token: user}).status)
}

func TestLastRootStays(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	for call, body := range map[string]string{
		"DELETE /api/v1/users/root": "",
		"PATCH /api/v1/users/root":  `{"disabled":true}`,
	} {
		answer := s.admin(call, body)
		assert.Equal(t, http.StatusConflict, answer.status, call)
		assert.Equal(t, problem(409, "the last enabled root user must stay"), answer.body)
	}
	assert.Equal(t, http.StatusConflict, s.admin("PATCH /api/v1/users/root", `{"role":"admin"}`).status)
}

// Administrators manage the keys of users with a smaller role, and their own.
func TestRolesRestrictChangesOfKeys(t *testing.T) {
	for _, c := range []struct {
		by, owner string
		allowed   bool
	}{
		{"admin", "user", true}, {"admin", "admin", true}, {"admin", "admin2", false}, {"admin", "root", false},
		{"root", "user", true}, {"root", "admin", true}, {"root", "root2", true}, {"user", "user2", false},
	} {
		t.Run(c.by+" "+c.owner, func(t *testing.T) {
			s := hierarchy(t)
			theirs := s.ask(testRequest{call: "POST /api/token/", body: `{"name":"theirs"}`, token: s.token(c.owner)})
			require.Equal(t, http.StatusOK, theirs.status, theirs.body)
			for _, change := range []testRequest{
				{call: "POST /api/v1/keys", body: `{"user":"` + c.owner + `","name":"new"}`},
				{call: "PATCH /api/v1/keys/1", body: `{"disabled":true}`},
				{call: "DELETE /api/v1/keys/1"},
			} {
				change.token = s.token(c.by)
				assert.Equal(t, c.allowed, s.ask(change).status < http.StatusBadRequest, change.call)
			}
			_, err := s.people.Store.Key(t.Context(), aigateway.AnyUser, 1)
			assert.Equal(t, c.allowed, errors.Is(err, aigateway.ErrNotFound))
		})
	}
}

// A change without models once would have allowed all models, and one without networks all
// networks.
func TestChangesOfKeysKeepWhatTheyDoNotName(t *testing.T) {
	s := hierarchy(t)
	root := s.token("root")
	created := s.ask(testRequest{call: "POST /api/v1/keys", token: root, body: `{"user":"user","name":"a","models":["m"],"from":["192.0.2.0/24"],"expires":"2099-01-02"}`})
	require.Equal(t, http.StatusOK, created.status, created.body)
	changed := s.ask(testRequest{call: "PATCH /api/v1/keys/1", token: root, body: `{"disabled":true}`}).data(t)
	assert.Equal(t, []any{"m"}, changed["models"])
	assert.Equal(t, []any{"192.0.2.0/24"}, changed["from"])
	assert.NotNil(t, changed["expires"])
	assert.Equal(t, true, changed["disabled"])
	changed = s.ask(testRequest{call: "PATCH /api/v1/keys/1", token: root, body: `{"models":[],"expires":"","name":"b"}`}).data(t)
	assert.Empty(t, changed["models"])
	assert.Nil(t, changed["expires"])
	assert.Equal(t, "b", changed["name"])
	assert.Equal(t, true, changed["disabled"])
}

func TestAdministratorsSeeTheKeysOfAllUsersInPages(t *testing.T) {
	s := hierarchy(t)
	for _, name := range []string{"user", "user2", "root"} {
		for i := range 3 {
			answer := s.ask(testRequest{call: "POST /api/token/", body: fmt.Sprintf(`{"name":"%s %d"}`, name, i), token: s.token(name)})
			require.Equal(t, http.StatusOK, answer.status)
		}
	}
	list := func(query string) (names []any, total, next any) {
		page := s.ask(testRequest{call: "GET /api/v1/keys?" + query, token: s.token("admin")}).data(t)
		for _, item := range page["items"].([]any) {
			names = append(names, item.(map[string]any)["name"])
			assert.Contains(t, item.(map[string]any)["key"], "****", "a list never contains a whole key")
		}
		return names, page["total"], page["next"]
	}
	_, _, next := list("limit=2")
	names, total, _ := list("limit=2&after=" + next.(string))
	assert.Equal(t, []any{"root 0", "user2 2"}, names)
	assert.EqualValues(t, 9, total)
	names, total, next = list("user=user&search=2")
	assert.Equal(t, []any{"user 2"}, names)
	assert.Empty(t, next)
	assert.EqualValues(t, 1, total)
}

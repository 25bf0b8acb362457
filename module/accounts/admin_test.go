package accounts

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func TestAdministratorOfTheMachineManagesUsers(t *testing.T) {
	s := newSite(t, nil)
	created := s.admin("POST /api/v1/users", `{"username":"Root","role":"root"}`)
	require.Equal(t, http.StatusOK, created.status, created.body)
	made := created.data(t)
	assert.Equal(t, "root", made["username"])
	generated := made["password"].(string)
	assert.Len(t, generated, 26)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: loginCall, body: credentials("root", generated)}).status)

	created = s.admin("POST /api/v1/users", `{"username":"alice","display_name":"Alice","password":"correct horse"}`)
	assert.NotContains(t, created.body, "password", "the client chose the password")
	token := s.token("alice")

	shown := s.admin("GET /api/v1/users/ALICE", "")
	assert.Equal(t, http.StatusOK, shown.status)
	assert.Equal(t, []any{"alice", "Alice", "user", false}, members(shown.data(t), "username", "display_name", "role", "disabled"))
	assert.NotContains(t, shown.body, "argon2")

	changed := s.admin("PATCH /api/v1/users/alice", `{"disabled":true,"role":"admin","display_name":"A."}`)
	assert.Equal(t, []any{"alice", "A.", "admin", true}, members(changed.data(t), "username", "display_name", "role", "disabled"))
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: selfCall, token: token}).status)
	s.admin("PATCH /api/v1/users/alice", `{"disabled":false}`)

	reset := s.admin("POST /api/v1/users/alice/password", `{}`).data(t)["password"].(string)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: loginCall, body: credentials("alice", reset)}).status)
	assert.NotContains(t, s.admin("POST /api/v1/users/alice/password", `{"password":"correct horse"}`).body, "password")
	s.token("alice")

	assert.Len(t, s.admin("GET /api/v1/users", "").data(t)["items"], 2)
	assert.Len(t, s.admin("GET /api/v1/users?search=LIC", "").data(t)["items"], 1)

	assert.Equal(t, http.StatusNoContent, s.admin("DELETE /api/v1/users/alice", "").status)
	assert.Equal(t, http.StatusNotFound, s.admin("GET /api/v1/users/alice", "").status)
}

func members(object map[string]any, names ...string) (values []any) {
	for _, name := range names {
		values = append(values, object[name])
	}
	return values
}

func TestAdministratorOfTheMachineManagesKeys(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	s.user("bob", aigateway.RoleUser)
	created := s.admin("POST /api/v1/keys",
		`{"user":"ALICE","name":"ci","expires":"2099-01-01","models":["a","b-*"],"from":["10.0.0.0/8, 192.0.2.1"],"limit":"gold"}`).data(t)
	assert.Equal(t, []any{"alice", "ci", "2099-01-01T00:00:00Z", []any{"a", "b-*"}, []any{"10.0.0.0/8", "192.0.2.1"}, "gold", false, nil},
		members(created, "user", "name", "expires", "models", "from", "limit", "disabled", "used"))
	key := created["key"].(string)
	found := s.people.Store.Lookup(call.Digest(key))
	require.NotNil(t, found)
	assert.Equal(t, "gold", found.Limit)

	plain := s.admin("POST /api/v1/keys", `{"user":"bob","name":"plain"}`).data(t)
	assert.Equal(t, []any{nil, []any{}, []any{}, ""}, members(plain, "expires", "models", "from", "limit"))

	for query, want := range map[string]int{"": 2, "?user=alice": 1, "?search=PLA": 1, "?user=bob&search=ci": 0} {
		answer := s.admin("GET /api/v1/keys"+query, "")
		assert.Len(t, answer.data(t)["items"], want, query)
		assert.NotContains(t, answer.body, key)
	}
	assert.Equal(t, http.StatusNoContent, s.admin("DELETE /api/v1/keys/1", "").status)
	assert.Nil(t, s.people.Store.Lookup(call.Digest(key)))
}

func TestAdminErrorsNameTheField(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	for _, c := range []struct {
		call, body string
		status     int
		message    string
	}{
		{"GET /api/v1/", "", 404, noPath},
		{"GET /api/v1/users/", "", 404, "there is no such path: did you mean /api/v1/users?"},
		{"GET /api/v1/users/%61lice", "", 200, ""},
		{"GET /api/v1/%75sers/alice", "", 404, "there is no such path: did you mean /api/v1/users/alice?"}, // a guard may read another path
		{"GET /api/v1/users/a%2Fb", "", 404, noPath},
		{"GET /api/v1/session", "", 404, noPath}, // the administrator of the machine has none
		{"GET /api/v1/captures", "", 404, noPath},
		{"POST /api/user/login", "{}", 404, noPath},
		{"GET /api/v1/users?serch=a", "", 400, "unknown parameter \"serch\"; did you mean 'search'? known are: sort, search, limit, after"},
		{"GET /api/v1/users?after=x", "", 400, "after must be the value of next in the page before"},
		{"GET /api/v1/users?limit=x", "", 400, "limit must be a whole number"},
		{"POST /api/v1/users", `{"username":"bob","rol":"admin"}`, 400, "unknown member \"rol\"; did you mean 'role'? known are: username, display_name, role, password"}, // it was once ignored
		{"POST /api/v1/users", `{"username":"bob","Role":"admin"}`, 400, "unknown member \"Role\"; did you mean 'role'? known are: username, display_name, role, password"},
		{"GET /api/v1/users/a/b", "", 404, noPath},
		{"GET /api/v1/keys/x", "", 404, noPath},
		{"PUT /api/v1/users", "{}", 405, "this path accepts GET, HEAD, POST"},
		{"POST /api/v1/users", `{}`, 400, "username is required"},
		{"POST /api/v1/users", `{"username":"a b"}`, 400, "username must be 1 to 64 letters, digits or ._@+- with a letter or digit first"},
		{"POST /api/v1/users", `{"username":"bob","password":"short"}`, 400, "password must be 8 to 1024 bytes"},
		{"POST /api/v1/users", `{"username":"bob","password":""}`, 400, "password must be 8 to 1024 bytes"},
		{"POST /api/v1/users", `{"username":"bob","display_name":7}`, 400, "display_name must be a string"}, // it was once ignored
		{"POST /api/v1/users", `{"username":"bob","role":"king"}`, 400, "role must be user, admin or root"},
		{"POST /api/v1/users", `{"username":"alice"}`, 409, "the username is taken"},
		{"GET /api/v1/users/bob", "", 404, "there is no user with this name"},
		{"DELETE /api/v1/users/bob", "", 404, "there is no user with this name"},
		{"PATCH /api/v1/users/alice", `{"disabled":"yes"}`, 400, "disabled must be true or false"},
		{"POST /api/v1/users/alice/password", `{"password":"short"}`, 400, "password must be 8 to 1024 bytes"},
		{"POST /api/v1/keys", `{"user":"alice"}`, 400, "name is required"},
		{"POST /api/v1/keys", `{"user":"bob","name":"k"}`, 404, "there is no user with this name"},
		// A long search once reached the database, where it could fail.
		{"GET /api/v1/users?search=" + strings.Repeat("a", 257), "", 400, "search must be at most 256 bytes"},
		{"GET /api/v1/keys?search=" + strings.Repeat("a", 257), "", 400, "search must be at most 256 bytes"},
		{"GET /api/v1/keys?sort=-models", "", 400, "sort must be one of name, user, used, expires, created, with - before it for the largest first"},
		{"GET /api/v1/users?sort=password", "", 400, "sort must be one of name, display_name, role, disabled, last_login, created, with - before it for the largest first"},
		{"GET /api/v1/keys?user=bob", "", 404, "there is no user with this name"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","expires":"someday"}`, 400, "expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","expires":"0001-01-01"}`, 400, "expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","expires":"2001-01-01"}`, 400, "the expiry of the key must be in the future"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","models":"a"}`, 400, "models must be an array of strings"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","models":[1]}`, 400, "models must be an array of strings"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","models":[null]}`, 400, "models must be an array of strings"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","models":["\ud800"]}`, 400, "models must be an array of strings without U+FFFD or half of a surrogate pair"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","from":["there"]}`, 400, "from must be IP addresses or networks such as 192.0.2.0/24"},
		{"POST /api/v1/keys", `{"user":"alice","name":"k","limit":"a b"}`, 400, "the name of a limit is 1 to 64 letters, digits or ._@+- with a letter or digit first"},
		{"DELETE /api/v1/keys/9", "", 404, "not found"},
	} {
		answer := s.admin(c.call, c.body)
		assert.Equal(t, c.status, answer.status, "%s %s", c.call, c.body)
		if c.status == http.StatusOK {
			continue
		}
		assert.Equal(t, problem(c.status, c.message), answer.body, "%s %s", c.call, c.body)
	}
}

// A key could once be created that expired in the year 10000. Every list of keys
// panicked from then on.
func TestTimesOutOfRangeDoNotBreakLists(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	for _, year := range []int{10_000, 200_000, -5} {
		key := &aigateway.StoredKey{UserID: 1, Name: "k", Expires: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), Digest: aigateway.Digest{byte(year)}}
		require.NoError(t, s.people.Store.CreateKey(t.Context(), key, 9))
	}
	var page struct {
		Items []struct{ Expires *time.Time }
	}
	require.NoError(t, json.Unmarshal([]byte(s.admin("GET /api/v1/keys", "").body), &page))
	list := page.Items
	require.Len(t, list, 3)
	assert.Equal(t, []int{1, 9999, 9999}, []int{list[0].Expires.Year(), list[1].Expires.Year(), list[2].Expires.Year()})
}

// Ensures that a web page cannot reset a password over the admin API of the machine of
// its visitor.
func TestAdminRefusesOtherSites(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	for name, a := range map[string]testRequest{
		"cross-site":       {body: "{}", header: headers("Sec-Fetch-Site", "cross-site")},
		"not JSON":         {body: "{}", header: headers("Content-Type", "text/plain")},
		"an empty body":    {},
		"a foreign origin": {body: "{}", header: headers("Origin", "https://evil.example")},
	} {
		a.call = "POST /api/v1/users/root/password"
		w := httptest.NewRecorder()
		s.Admin().ServeHTTP(w, a.request(t.Context()))
		assert.GreaterOrEqual(t, w.Code, 400, name)
	}
	s.token("root")
}

func TestAdminReportsAnOutage(t *testing.T) {
	s := newSite(t, nil)
	s.people.Store = broken{s.people.Store}
	answer := s.admin("GET /api/v1/users/root", "")
	assert.Equal(t, http.StatusServiceUnavailable, answer.status)
	assert.Equal(t, problem(503, "accounts are not available at the moment"), answer.body)
	assert.Equal(t, 1, s.logs.FilterMessage("store of accounts is not available").Len())
}

// The administrator of the machine has what root has, but for what belongs to a login.
func TestTheMachineHasEveryPathThatNeedsNoLoginOfItsOwn(t *testing.T) {
	s := newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	s.UseState(shown)
	for _, route := range s.router.Routes {
		answer := s.admin(withValues(route.Pattern), bodies[route.Pattern])
		if route.Envelope || route.Access == call.Anyone || route.Access == call.OwnSession {
			assert.Equal(t, problem(http.StatusNotFound, noPath), answer.body, route.Pattern)
			continue
		}
		assert.NotContains(t, answer.body, noPath, route.Pattern)
		assert.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusInternalServerError}, answer.status, route.Pattern)
	}
}

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
	created := s.admin("POST /ai_gateway/users", `{"username":"Root","role":"root"}`)
	require.Equal(t, http.StatusOK, created.status, created.body)
	made := created.data(t)
	assert.Equal(t, "root", made["username"])
	generated := made["password"].(string)
	assert.Len(t, generated, 26)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: loginCall, body: credentials("root", generated)}).status)

	created = s.admin("POST /ai_gateway/users", `{"username":"alice","display_name":"Alice","password":"correct horse"}`)
	assert.NotContains(t, created.body, "password", "the client chose the password")
	token := s.token("alice")

	shown := s.admin("GET /ai_gateway/users/ALICE", "")
	assert.Equal(t, http.StatusOK, shown.status)
	assert.Equal(t, []any{"alice", "Alice", "user", false}, members(shown.data(t), "username", "display_name", "role", "disabled"))
	assert.NotContains(t, shown.body, "argon2")

	changed := s.admin("PATCH /ai_gateway/users/alice", `{"disabled":true,"role":"admin","display_name":"A."}`)
	assert.Equal(t, []any{"alice", "A.", "admin", true}, members(changed.data(t), "username", "display_name", "role", "disabled"))
	assert.Equal(t, http.StatusUnauthorized, s.ask(testRequest{call: selfCall, token: token}).status)
	s.admin("PATCH /ai_gateway/users/alice", `{"disabled":false}`)

	reset := s.admin("POST /ai_gateway/users/alice/password", `{}`).data(t)["password"].(string)
	assert.Equal(t, http.StatusOK, s.ask(testRequest{call: loginCall, body: credentials("alice", reset)}).status)
	assert.NotContains(t, s.admin("POST /ai_gateway/users/alice/password", `{"password":"correct horse"}`).body, "password")
	s.token("alice")

	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.admin("GET /ai_gateway/users", "").body), &list))
	assert.Len(t, list, 2)
	require.NoError(t, json.Unmarshal([]byte(s.admin("GET /ai_gateway/users?search=LIC", "").body), &list))
	assert.Len(t, list, 1)

	assert.Equal(t, `{}`, s.admin("DELETE /ai_gateway/users/alice", "").body)
	assert.Equal(t, http.StatusNotFound, s.admin("GET /ai_gateway/users/alice", "").status)
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
	created := s.admin("POST /ai_gateway/keys",
		`{"user":"ALICE","name":"ci","expires":"2099-01-01","models":["a","b-*"],"from":["10.0.0.0/8","192.0.2.1"],"limit":"gold"}`).data(t)
	assert.Equal(t, []any{"alice", "ci", "2099-01-01T00:00:00Z", []any{"a", "b-*"}, []any{"10.0.0.0/8", "192.0.2.1"}, "gold", false, nil},
		members(created, "user", "name", "expires", "models", "from", "limit", "disabled", "used"))
	key := created["key"].(string)
	found := s.store.Lookup(call.Digest(key))
	require.NotNil(t, found)
	assert.Equal(t, "gold", found.Limit)

	plain := s.admin("POST /ai_gateway/keys", `{"user":"bob","name":"plain"}`).data(t)
	assert.Equal(t, []any{nil, []any{}, []any{}, ""}, members(plain, "expires", "models", "from", "limit"))

	for query, want := range map[string]int{"": 2, "?user=alice": 1, "?search=PLA": 1, "?user=bob&search=ci": 0} {
		answer := s.admin("GET /ai_gateway/keys"+query, "")
		var list []map[string]any
		require.NoError(t, json.Unmarshal([]byte(answer.body), &list))
		assert.Len(t, list, want, query)
		assert.NotContains(t, answer.body, key)
	}
	assert.Equal(t, `{}`, s.admin("DELETE /ai_gateway/keys/1", "").body)
	assert.Nil(t, s.store.Lookup(call.Digest(key)))
}

func TestAdminErrorsNameTheField(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	for _, c := range []struct {
		call, body string
		status     int
		message    string
	}{
		{"GET /ai_gateway/", "", 404, "there is no such path"},
		{"GET /ai_gateway/users/", "", 404, "there is no such path"},
		{"GET /ai_gateway/users/a/b", "", 404, "there is no such path"},
		{"GET /ai_gateway/keys/x", "", 404, "there is no such path"},
		{"PUT /ai_gateway/users", "{}", 405, "this path accepts GET, HEAD, POST"},
		{"POST /ai_gateway/users", `{}`, 400, "username is required"},
		{"POST /ai_gateway/users", `{"username":"a b"}`, 400, "username must be 1 to 64 letters, digits or ._@+- with a letter or digit first"},
		{"POST /ai_gateway/users", `{"username":"bob","password":"short"}`, 400, "password must be 8 to 1024 bytes"},
		{"POST /ai_gateway/users", `{"username":"bob","password":""}`, 400, "password must be 8 to 1024 bytes"},
		{"POST /ai_gateway/users", `{"username":"bob","display_name":7}`, 400, "display_name must be a string"}, // it was once ignored
		{"POST /ai_gateway/users", `{"username":"bob","role":"king"}`, 400, "role must be user, admin or root"},
		{"POST /ai_gateway/users", `{"username":"alice"}`, 409, "the username is taken"},
		{"GET /ai_gateway/users/bob", "", 404, "there is no user with this name"},
		{"DELETE /ai_gateway/users/bob", "", 404, "there is no user with this name"},
		{"PATCH /ai_gateway/users/alice", `{"disabled":"yes"}`, 400, "disabled must be true or false"},
		{"POST /ai_gateway/users/alice/password", `{"password":"short"}`, 400, "password must be 8 to 1024 bytes"},
		{"POST /ai_gateway/keys", `{"user":"alice"}`, 400, "name is required"},
		{"POST /ai_gateway/keys", `{"user":"bob","name":"k"}`, 404, "there is no user with this name"},
		// A long search once reached the database, where it could fail.
		{"GET /ai_gateway/users?search=" + strings.Repeat("a", 257), "", 400, "search must be at most 256 bytes"},
		{"GET /ai_gateway/keys?search=" + strings.Repeat("a", 257), "", 400, "search must be at most 256 bytes"},
		{"GET /ai_gateway/keys?user=bob", "", 404, "there is no user with this name"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","expires":"someday"}`, 400, "expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","expires":"0001-01-01"}`, 400, "expires must be YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","expires":"2001-01-01"}`, 400, "the expiry of the key must be in the future"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","models":"a"}`, 400, "models must be an array of strings"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","models":[1]}`, 400, "models must be an array of strings"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","from":["there"]}`, 400, "from must be IP addresses or networks such as 192.0.2.0/24"},
		{"POST /ai_gateway/keys", `{"user":"alice","name":"k","limit":"a b"}`, 400, "the name of a limit is 1 to 64 letters, digits or ._@+- with a letter or digit first"},
		{"DELETE /ai_gateway/keys/9", "", 404, "not found"},
	} {
		answer := s.admin(c.call, c.body)
		assert.Equal(t, c.status, answer.status, "%s %s", c.call, c.body)
		assert.Equal(t, `{"error":"`+c.message+`"}`, answer.body, "%s %s", c.call, c.body)
	}
}

// A key could once be created that expired in the year 10000. Every list of keys
// panicked from then on.
func TestTimesOutOfRangeDoNotBreakLists(t *testing.T) {
	s := newSite(t, nil)
	s.user("alice", aigateway.RoleUser)
	for _, year := range []int{10_000, 200_000, -5} {
		_, err := s.keys().create(t.Context(), &aigateway.StoredKey{
			UserID: 1, Name: "k", Expires: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC),
		})
		require.NoError(t, err)
	}
	var list []struct{ Expires *time.Time }
	require.NoError(t, json.Unmarshal([]byte(s.admin("GET /ai_gateway/keys", "").body), &list))
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
		a.call = "POST /ai_gateway/users/root/password"
		w := httptest.NewRecorder()
		s.Admin().ServeHTTP(w, a.request(t.Context()))
		assert.GreaterOrEqual(t, w.Code, 400, name)
	}
	s.token("root")
}

func TestAdminReportsAnOutage(t *testing.T) {
	s := newSite(t, nil)
	s.store = broken{s.store}
	answer := s.admin("GET /ai_gateway/users/root", "")
	assert.Equal(t, http.StatusServiceUnavailable, answer.status)
	assert.Equal(t, `{"error":"accounts are not available at the moment"}`, answer.body)
	assert.Equal(t, 1, s.logs.FilterMessage("store of accounts is not available").Len())
}

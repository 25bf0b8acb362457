package accounts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/people"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const (
	newKeyCall = "POST /api/token/"
	changeCall = "PUT /api/token/"
)

// keySite returns a site with the users root (ID 1) and alice (ID 2), and their tokens.
func keySite(t *testing.T) (s *site, root, alice string) {
	s = newSite(t, nil)
	s.user("root", aigateway.RoleRoot)
	s.user("alice", aigateway.RoleUser)
	return s, s.token("root"), s.token("alice")
}

func TestKeyIsShownOnce(t *testing.T) {
	s, _, alice := keySite(t)
	answer := s.ask(testRequest{call: newKeyCall, body: `{"name":"laptop"}`, token: alice})
	require.Equal(t, http.StatusOK, answer.status)
	key := answer.data(t)["key"].(string)
	assert.Regexp(t, `^sk-[0-9A-Za-z]{48}$`, key)
	assert.False(t, aigateway.MistypedAPIKey(key))
	for _, a := range []testRequest{
		{call: "GET /api/token/"}, {call: "GET /api/token"}, {call: "GET /api/token/1"}, {call: "GET /api/token/search?keyword=lap"},
		{call: changeCall, body: `{"id":1,"name":"desktop"}`},
	} {
		a.token = alice
		answer := s.ask(a)
		require.Equal(t, http.StatusOK, answer.status)
		assert.NotContains(t, answer.body, key, a.call)
		assert.Contains(t, answer.body, `"key":"`+aigateway.APIKeyHint(aigateway.Secret(key))+`"`, a.call)
	}
	found := s.people.Store.Lookup(call.Digest(key))
	require.NotNil(t, found)
	assert.Equal(t, "alice", found.Owner)
}

func TestFieldsOfKeys(t *testing.T) {
	const networks = "allow_ips must be IP addresses or networks such as 192.0.2.0/24"
	for _, c := range []struct {
		name, body string
		want       string // the body of the failure, or the members of the key that differ from usualKey
	}{
		{"only a name", `{"name":"k"}`, `{}`},
		{"all", `{"name":"k","expired_time":4102444800,"unlimited_quota":true,"remain_quota":500000,"model_limits_enabled":true,"model_limits":"a, b-* ,,c","allow_ips":"192.0.2.1\n\n10.1.2.3/8\r\n2001:db8::/32","group":""}`,
			`{"expired_time":4102444800,"model_limits_enabled":true,"model_limits":"a,b-*,c","allow_ips":"192.0.2.1\n10.0.0.0/8\n2001:db8::/32"}`},
		{"never", `{"name":"k","expired_time":-1}`, `{}`},
		{"disabled", `{"name":"k","status":2}`, `{"status":2}`},
		{"status of an expired key", `{"name":"k","status":3}`, `{}`},
		{"limits without model_limits_enabled", `{"name":"k","model_limits":"a"}`, `{"model_limits_enabled":true,"model_limits":"a"}`},
		{"limits that are not enabled", `{"name":"k","model_limits_enabled":false,"model_limits":"a"}`, `{}`},
		{"no limits", `{"name":"k","model_limits_enabled":false,"model_limits":""}`, `{}`},
		{"mapped address", `{"name":"k","allow_ips":"::ffff:192.0.2.1, 2001:DB8::1"}`, `{"allow_ips":"192.0.2.1\n2001:db8::1"}`},
		{"longest name", `{"name":"` + strings.Repeat("é", 64) + `"}`, `{"name":"` + strings.Repeat("é", 64) + `"}`},
		{"unknown member", `{"name":"k","key":"sk-mine","user_id":1,"used_quota":7,"created_time":1}`, `{}`},

		{"no name", `{}`, failure("name is required")},
		{"empty name", `{"name":""}`, failure("name is required")},
		{"name too long", `{"name":"` + strings.Repeat("a", 65) + `"}`, failure("name must be at most 64 printable characters")},
		{"name with a line end", `{"name":"a\nb"}`, failure("name must be at most 64 printable characters")},
		{"name is a number", `{"name":1}`, failure("name must be a string")},
		{"a time ago", `{"name":"k","expired_time":1000000000}`, failure("the expiry of the key must be in the future")},
		{"time zero", `{"name":"k","expired_time":0}`, failure("expired_time must be in Unix seconds, or -1 for never")},
		{"time in milliseconds", `{"name":"k","expired_time":41024448000000}`, failure("expired_time must be in Unix seconds, or -1 for never")},
		{"time as text", `{"name":"k","expired_time":"2030-01-01"}`, failure("expired_time must be a whole number")},
		{"budget", `{"name":"k","unlimited_quota":false,"remain_quota":500000}`, failure("unlimited_quota must be true: a key has no budget of its own")},
		{"budget without unlimited_quota", `{"name":"k","remain_quota":500000}`, failure("unlimited_quota must be true: a key has no budget of its own")},
		{"unlimited_quota is a text", `{"name":"k","unlimited_quota":"true"}`, failure("unlimited_quota must be true or false")},
		{"limits that name nothing", `{"name":"k","model_limits_enabled":true,"model_limits":" , "}`, failure("model_limits must contain a model if model_limits_enabled is true")},
		{"limits as an array", `{"name":"k","model_limits":["a"]}`, failure("model_limits must be a string")},
		{"model with a tab", `{"name":"k","model_limits":"a\tb"}`, failure("model_limits: a model pattern is 1 to 256 printable characters without spaces and commas")},
		{"too many models", `{"name":"k","model_limits":"` + strings.Repeat("a,", 101) + `"}`, failure("model_limits must be at most 100 names")},
		{"no address", `{"name":"k","allow_ips":"localhost"}`, failure(networks)},
		{"address with a zone", `{"name":"k","allow_ips":"fe80::1%eth0"}`, failure(networks)},
		{"mapped network", `{"name":"k","allow_ips":"::ffff:10.0.0.0/64"}`, failure(networks)},
		{"network too wide", `{"name":"k","allow_ips":"10.0.0.0/33"}`, failure(networks)},
		{"too many networks", `{"name":"k","allow_ips":"` + strings.Repeat("10.0.0.1,", 101) + `"}`, failure("allow_ips must be at most 100 networks")},
		{"unknown status", `{"name":"k","status":4}`, failure("status must be 1 for enabled or 2 for disabled")},
		{"limit", `{"name":"k","group":"gold"}`, failure("group: only administrators may set the limit of a key")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, alice := keySite(t)
			answer := s.ask(testRequest{call: newKeyCall, body: c.body, token: alice})
			if strings.Contains(c.want, `"success"`) {
				assert.Equal(t, c.want, answer.body)
				return
			}
			require.Equal(t, http.StatusOK, answer.status, answer.body)
			assert.JSONEq(t, usualKey(t, answer.data(t), c.want), s.ask(testRequest{call: "GET /api/token/1", token: alice}).body)
		})
	}
}

// usualKey returns the answer with a key of alice, with some members replaced.
func usualKey(t *testing.T, created map[string]any, replaced string) string {
	key := map[string]any{
		"id": 1, "user_id": 2, "key": aigateway.APIKeyHint(aigateway.Secret(created["key"].(string))), "status": 1, "name": "k",
		"created_time": created["created_time"], "accessed_time": 0, "expired_time": -1,
		"remain_quota": 0, "unlimited_quota": true, "used_quota": 0,
		"model_limits_enabled": false, "model_limits": "", "allow_ips": "", "group": "",
	}
	require.NoError(t, json.Unmarshal([]byte(replaced), &key))
	answer, err := json.Marshal(map[string]any{"success": true, "message": "", "data": key})
	require.NoError(t, err)
	return string(answer)
}

func TestKeyChangeLeavesTheRest(t *testing.T) {
	s, root, alice := keySite(t)
	created := s.ask(testRequest{call: newKeyCall, body: `{"name":"k","expired_time":4102444800,"model_limits":"a","allow_ips":"10.0.0.0/8"}`, token: alice})
	all := `"expired_time":4102444800,"model_limits_enabled":true,"model_limits":"a","allow_ips":"10.0.0.0/8"`
	change := func(call, body, want string) {
		t.Helper()
		require.Equal(t, http.StatusOK, s.ask(testRequest{call: call, body: body, token: alice}).status)
		assert.JSONEq(t, usualKey(t, created.data(t), want), s.ask(testRequest{call: "GET /api/token/1", token: alice}).body)
	}
	change(changeCall, `{"id":1,"name":"n"}`, `{"name":"n",`+all+`}`)
	change(changeCall+"?status_only=1", `{"id":1,"status":2,"name":"ignored","remain_quota":7}`, `{"name":"n","status":2,`+all+`}`)
	change("PUT /api/token?status_only=true", `{"id":1,"status":1}`, `{"name":"n",`+all+`}`)
	change(changeCall, `{"id":1,"model_limits_enabled":false,"allow_ips":"","expired_time":-1}`, `{"name":"n"}`)

	assert.Equal(t, failure("id is required"), s.ask(testRequest{call: changeCall, body: `{"name":"n"}`, token: alice}).body)
	assert.Equal(t, failure("name is required"), s.ask(testRequest{call: changeCall, body: `{"id":1,"name":""}`, token: alice}).body)
	mine := s.ask(testRequest{call: newKeyCall, body: `{"name":"gold one","group":"gold"}`, token: root})
	assert.Equal(t, "gold", mine.data(t)["group"], "an administrator may set a limit")
}

// Clients send the unchanged expiry of an expired key when they rename it.
func TestExpiredKeyMayBeChanged(t *testing.T) {
	s, _, alice := keySite(t)
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, s.people.Store.CreateKey(t.Context(), &aigateway.StoredKey{UserID: 2, Name: "k", Expires: past}, 100))
	answer := s.ask(testRequest{call: changeCall, body: fmt.Sprintf(`{"id":1,"name":"n","status":3,"expired_time":%d}`, past.Unix()), token: alice})
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	assert.EqualValues(t, 3, answer.data(t)["status"])
	assert.Equal(t, "n", answer.data(t)["name"])
}

// The owner of a key could otherwise remove a limit that an administrator has set.
func TestOwnerCannotLiftTheLimitOfAKey(t *testing.T) {
	s, _, alice := keySite(t)
	require.NoError(t, s.people.Store.CreateKey(t.Context(), &aigateway.StoredKey{UserID: 2, Name: "k", Bounds: aigateway.KeyBounds{Limit: "small"}}, 100))
	answer := s.ask(testRequest{call: changeCall, body: `{"id":1,"group":""}`, token: alice})
	assert.Equal(t, http.StatusForbidden, answer.status)
	answer = s.ask(testRequest{call: changeCall, body: `{"id":1,"group":"small","name":"n"}`, token: alice})
	assert.Equal(t, http.StatusOK, answer.status, "the limit does not change")
}

func TestKeysOfOthersDoNotExist(t *testing.T) {
	s, root, alice := keySite(t)
	require.Equal(t, http.StatusOK, s.ask(testRequest{call: newKeyCall, body: `{"name":"k"}`, token: alice}).status)
	for _, a := range []testRequest{
		{call: "GET /api/token/1"}, {call: "DELETE /api/token/1"}, {call: changeCall, body: `{"id":1,"name":"n"}`},
		{call: changeCall + "?status_only=1", body: `{"id":1,"status":2}`},
	} {
		a.token = root
		answer := s.ask(a)
		assert.Equal(t, http.StatusNotFound, answer.status, a.call)
		assert.Equal(t, failure("not found"), answer.body)
	}
	assert.EqualValues(t, 0, s.ask(testRequest{call: "GET /api/token/", token: root}).data(t)["total"])
	assert.EqualValues(t, 1, s.ask(testRequest{call: "GET /api/token/", token: alice}).data(t)["total"])
}

func TestDeletedAndDisabledKeysTakeEffectAtOnce(t *testing.T) {
	s, root, alice := keySite(t)
	created := s.ask(testRequest{call: newKeyCall, body: `{"name":"k"}`, token: alice})
	d := call.Digest(created.data(t)["key"].(string))
	valid := func() bool {
		key := s.people.Store.Lookup(d)
		return key != nil && !key.Disabled && !key.Expired(time.Now())
	}
	require.True(t, valid())
	s.ask(testRequest{call: changeCall + "?status_only=1", body: `{"id":1,"status":2}`, token: alice})
	assert.False(t, valid())
	s.ask(testRequest{call: changeCall + "?status_only=1", body: `{"id":1,"status":1}`, token: alice})
	assert.True(t, valid())
	s.ask(testRequest{call: "POST /api/user/manage", body: `{"username":"alice","action":"disable"}`, token: root})
	assert.False(t, valid(), "its owner is disabled")
	s.ask(testRequest{call: "POST /api/user/manage", body: `{"username":"alice","action":"enable"}`, token: root})
	assert.True(t, valid())
	s.ask(testRequest{call: "DELETE /api/token/1", token: s.token("alice")})
	assert.False(t, valid())
}

func TestNetworksMatchAsTheyAreWritten(t *testing.T) {
	for text, address := range map[string]string{
		"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "10.1.2.3/8": "10.9.9.9", "2001:db8::1/32": "2001:db8:9::9",
	} {
		list, err := people.Networks("from", []string{text})
		require.NoError(t, err, text)
		key := aigateway.Key{Networks: *list}
		assert.True(t, key.AllowsFrom(netip.MustParseAddr(address)), text)
	}
}

// Lists of usage and limits have the ids of keys; their names took a request for each.
func TestKeysAreReadByTheirIDs(t *testing.T) {
	s, root, alice := keySite(t)
	for token, name := range map[string]string{root: "server", alice: "laptop"} {
		require.Equal(t, http.StatusOK, s.ask(testRequest{call: "POST /api/v1/keys", body: `{"name":"` + name + `"}`, token: token}).status)
	}
	names := func(token, query string) (names []string) {
		answer := s.ask(testRequest{call: "GET /api/v1/keys?" + query, token: token})
		require.Equal(t, http.StatusOK, answer.status, answer.body)
		var page struct{ Items []struct{ Name string } }
		require.NoError(t, json.Unmarshal([]byte(answer.body), &page))
		for _, key := range page.Items {
			names = append(names, key.Name)
		}
		return names
	}
	assert.ElementsMatch(t, []string{"server", "laptop"}, names(root, "id=1&id=2&id=77"))
	assert.Equal(t, []string{"laptop"}, names(alice, "id=1&id=2"), "keys of others do not exist")
	for _, query := range []string{"id=", "id=key_1", "id=0", strings.Repeat("id=1&", 101)} {
		assert.Equal(t, http.StatusBadRequest, s.ask(testRequest{call: "GET /api/v1/keys?" + query, token: alice}).status, query)
	}
}

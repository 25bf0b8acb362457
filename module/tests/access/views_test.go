package access_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Administrators see over HTTP what the administrator of the machine sees by the admin API;
// other users see nothing.
func TestAdministratorsSeeTheStateOfTheGateway(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	created := askAdmin(s, http.MethodPost, "/ai_gateway/users", `{"username":"carol","role":"admin","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	alice, carol := logInAs(s, "site", "alice"), logInAs(s, "site", "carol")
	for _, view := range []string{"status", "targets", "explain?model=m"} {
		got := carol.ask(http.MethodGet, "/api/"+view, "")
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		var envelope struct{ Data json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(got.Body), &envelope))
		assert.JSONEq(t, askAdmin(s, http.MethodGet, "/ai_gateway/"+view, "").Body, string(envelope.Data))
		assert.NotContains(t, got.Body, site.ClientKey)
		assert.Equal(t, http.StatusForbidden, alice.ask(http.MethodGet, "/api/"+view, "").Status)
		assert.Equal(t, http.StatusUnauthorized, s.Call(http.MethodGet, s.URL("site", "/api/"+view), "").Status)
		assert.Equal(t, http.StatusMethodNotAllowed, carol.ask(http.MethodPost, "/api/"+view, "{}").Status)
	}
	assert.Equal(t, http.StatusNotFound, carol.ask(http.MethodGet, "/api/explain?model=m&key=nobody", "").Status)
	unknown := carol.ask(http.MethodGet, "/api/explain?model=m&format=x", "")
	assert.Equal(t, http.StatusBadRequest, unknown.Status)
	assert.Contains(t, unknown.Body, "unknown format; known are")
	for _, path := range []string{"/api/status/", "/api/statuses", "/api/targets/1"} {
		assert.Equal(t, path != "/api/statuses", carol.ask(http.MethodGet, path, "").Status == http.StatusNotFound, path)
	}

	var status struct {
		Data struct {
			Ready     bool
			Running   int
			Providers []struct {
				Name      string
				Available bool
			}
			Degraded []any
			Behind   *int64 `json:"ledger_behind_seconds"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(carol.ask(http.MethodGet, "/api/status", "").Body), &status))
	assert.True(t, status.Data.Ready)
	require.Len(t, status.Data.Providers, 1)
	assert.True(t, status.Data.Providers[0].Available)
	assert.NotNil(t, status.Data.Behind)
	assert.Equal(t, []any{}, status.Data.Degraded)
}

// The key of another user works at once, and is refused at once when an administrator disables it.
func TestAdministratorsManageTheKeysOfOthers(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	created := askAdmin(s, http.MethodPost, "/ai_gateway/users", `{"username":"carol","role":"admin","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	carol := logInAs(s, "site", "carol")
	made := carol.ask(http.MethodPost, "/api/keys", `{"user":"alice","name":"hers"}`)
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	id, key := dataField(t, made, "id"), dataField(t, made, "key")
	assert.Equal(t, http.StatusOK, site.Status(s, key))
	assert.Equal(t, "alice", dataField(t, carol.ask(http.MethodGet, "/api/keys/"+id, ""), "user"))
	for _, change := range []struct {
		body string
		want int
	}{{`{"disabled":true}`, http.StatusUnauthorized}, {`{"disabled":false}`, http.StatusOK}} {
		require.Equal(t, http.StatusOK, carol.ask(http.MethodPatch, "/api/keys/"+id, change.body).Status)
		assert.Equal(t, change.want, site.Status(s, key))
	}
	require.Equal(t, http.StatusOK, carol.ask(http.MethodDelete, "/api/keys/"+id, "").Status)
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, key))
}

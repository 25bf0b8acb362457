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
	created := askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"carol","role":"admin","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	alice, carol := logInAs(s, "site", "alice"), logInAs(s, "site", "carol")
	for _, view := range []string{"status", "targets", "explain?model=m"} {
		got := carol.ask(http.MethodGet, "/api/v1/"+view, "")
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		assert.JSONEq(t, askAdmin(s, http.MethodGet, "/api/v1/"+view, "").Body, got.Body)
		assert.NotContains(t, got.Body, site.ClientKey)
		assert.Equal(t, http.StatusForbidden, alice.ask(http.MethodGet, "/api/v1/"+view, "").Status)
		assert.Equal(t, http.StatusUnauthorized, s.Call(http.MethodGet, s.URL("site", "/api/v1/"+view), "").Status)
		assert.Equal(t, http.StatusMethodNotAllowed, carol.ask(http.MethodPost, "/api/v1/"+view, "{}").Status)
	}
	assert.Equal(t, http.StatusNotFound, carol.ask(http.MethodGet, "/api/v1/explain?model=m&key=nobody", "").Status)
	unknown := carol.ask(http.MethodGet, "/api/v1/explain?model=m&format=x", "")
	assert.Equal(t, http.StatusBadRequest, unknown.Status)
	assert.Contains(t, unknown.Body, "unknown format; known are")
	for _, path := range []string{"/api/v1/status/", "/api/v1/statuses", "/api/v1/targets/1"} {
		assert.Equal(t, http.StatusNotFound, carol.ask(http.MethodGet, path, "").Status, path)
	}

	var status struct {
		Ready     bool
		Running   int
		Providers []struct {
			Name      string
			Available bool
		}
		Degraded []any
		Behind   *int64 `json:"ledger_behind_seconds"`
	}
	require.NoError(t, json.Unmarshal([]byte(carol.ask(http.MethodGet, "/api/v1/status", "").Body), &status))
	assert.True(t, status.Ready)
	require.Len(t, status.Providers, 1)
	assert.True(t, status.Providers[0].Available)
	assert.NotNil(t, status.Behind)
	assert.Equal(t, []any{}, status.Degraded)
}

// The key of another user works at once, and is refused at once when an administrator disables it.
func TestAdministratorsManageTheKeysOfOthers(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	created := askAdmin(s, http.MethodPost, "/api/v1/users", `{"username":"carol","role":"admin","password":"`+site.Password+`"}`)
	require.Equal(t, http.StatusOK, created.Status, created.Body)
	carol := logInAs(s, "site", "carol")
	made := carol.ask(http.MethodPost, "/api/v1/keys", `{"user":"alice","name":"hers"}`)
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	id, key := dataField(t, made, "id"), dataField(t, made, "key")
	assert.Equal(t, http.StatusOK, site.Status(s, key))
	assert.Equal(t, "alice", dataField(t, carol.ask(http.MethodGet, "/api/v1/keys/"+id, ""), "user"))
	for _, change := range []struct {
		body string
		want int
	}{{`{"disabled":true}`, http.StatusUnauthorized}, {`{"disabled":false}`, http.StatusOK}} {
		require.Equal(t, http.StatusOK, carol.ask(http.MethodPatch, "/api/v1/keys/"+id, change.body).Status)
		assert.Equal(t, change.want, site.Status(s, key))
	}
	require.Equal(t, http.StatusNoContent, carol.ask(http.MethodDelete, "/api/v1/keys/"+id, "").Status)
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, key))
}

package access_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// configOf writes a Caddyfile with a store for the command line.
func configOf(t *testing.T, store string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Caddyfile")
	text := "{\n\tadmin off\n}\n\nhttp://:8080 {\n\tai_gateway {\n\t\tprovider demo\n\t\tkey client {env.CLIENT_KEY}\n\t\t" + store + "\n\t}\n}\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// manage manages users and keys of a gateway from another process.
func manage(t *testing.T, s *site.Site, where string) {
	t.Helper()
	site.RunCommand(t, "ai-gateway user add alice"+where)
	key := strings.TrimSpace(site.RunCommand(t, "ai-gateway key new --user alice --name laptop"+where))
	site.WaitStatus(s, key, http.StatusOK)
	site.RunCommand(t, "ai-gateway user disable alice"+where)
	site.WaitStatus(s, key, http.StatusUnauthorized)
	site.RunCommand(t, "ai-gateway user enable alice"+where)
	site.WaitStatus(s, key, http.StatusOK)
	site.RunCommand(t, "ai-gateway key revoke 1"+where)
	site.WaitStatus(s, key, http.StatusUnauthorized)
	assert.Equal(t, http.StatusOK, site.Status(s, site.ClientKey))
}

// Changes of users and keys by another process take effect, by the admin API and by the
// store.
func TestOtherProcessesManageARunningGateway(t *testing.T) {
	t.Run("through the file of the store", func(t *testing.T) {
		s := site.Start(t, site.DemoProvider)
		manage(t, s, "")
	})
	t.Run("through the admin API", func(t *testing.T) {
		s := site.Start(t, site.DemoProvider, "store sqlite "+filepath.Join(t.TempDir(), "own.db"))
		manage(t, s, " --address "+strings.TrimPrefix(s.AdminURL(""), "http://"))
		assert.NoFileExists(t, databaseOf(s))
	})
	t.Run("through one PostgreSQL", func(t *testing.T) {
		cluster, installed := storetest.Postgres(t)
		if !installed {
			return
		}
		t.Setenv("POSTGRES_DSN", cluster.NewDatabase(t))
		s := site.Start(t, site.DemoProvider, "store postgres {env.POSTGRES_DSN}")
		manage(t, s, " --config "+configOf(t, "store postgres {env.POSTGRES_DSN}"))
	})
}

// Two gateways share a PostgreSQL database. Changes of keys and logins at one gateway take
// effect at the other within two seconds.
func TestTwoGatewaysOfOnePostgreSQLKnowTheSameKeys(t *testing.T) {
	cluster, installed := storetest.Postgres(t)
	if !installed {
		return
	}
	t.Setenv("POSTGRES_DSN", cluster.NewDatabase(t))
	const shared = "store postgres {env.POSTGRES_DSN}"
	s := site.Start(t, site.DemoProvider, shared)
	other := site.StartProcess(t, "", site.DemoProvider, shared)
	there := func(method, path, body, credential string) site.Reply {
		return s.Call(method, "http://"+other.Address+path, body, "Authorization", "Bearer "+credential)
	}
	becomes := func(key string, status int) {
		t.Helper()
		assert.Eventually(t, func() bool {
			return there(http.MethodPost, site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), key).Status == status
		}, site.Patience, site.PollEvery)
	}
	s.AddUser("alice")
	alice := logInAs(s, "site", "alice")
	id, key := alice.newKey()
	becomes(key, http.StatusOK)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodPut, "/api/token/?status_only=1", `{"id":`+id+`,"status":2}`).Status)
	becomes(key, http.StatusUnauthorized)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodPut, "/api/token/?status_only=1", `{"id":`+id+`,"status":1}`).Status)
	becomes(key, http.StatusOK)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodDelete, "/api/token/"+id, "").Status)
	becomes(key, http.StatusUnauthorized)

	assert.Equal(t, http.StatusOK, there(http.MethodGet, "/api/user/self", "", alice.token).Status)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodPost, "/api/user/logout", "").Status)
	assert.Equal(t, http.StatusUnauthorized, there(http.MethodGet, "/api/user/self", "", alice.token).Status, "at once")
}

func TestTheAdminAPIRefusesWithoutRepeatingSecrets(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	for body, want := range map[string]string{
		`{"username":"alice","password":"a secret that is long enough"`: "JSON",
		`{"username":"not a name","password":"a secret that is long"}`:  "username",
		`{"username":"alice","password":"secret"}`:                      "password must be",
		`{"username":"alice","password":7}`:                             "password",
	} {
		got := askAdmin(s, http.MethodPost, "/api/v1/users", body)
		assert.Equal(t, http.StatusBadRequest, got.Status, body)
		assert.Regexp(t, `"detail":".*`+want, got.Body)
		assert.NotContains(t, got.Body+s.Logs.String(), "secret")
	}
	foreign := s.Call(http.MethodPost, s.AdminURL("/api/v1/users"), `{"username":"alice"}`, "Origin", "https://evil.example.com")
	assert.Equal(t, http.StatusForbidden, foreign.Status)
	assert.Equal(t, http.StatusNotFound, askAdmin(s, http.MethodGet, "/api/v1/nothing", "").Status)
	assert.Equal(t, http.StatusMethodNotAllowed, askAdmin(s, http.MethodPut, "/api/v1/users", "{}").Status)
	assert.Equal(t, http.StatusBadRequest, askAdmin(s, http.MethodPost, "/api/v1/usage/reprice", `{"untl":"2026-01-01"}`).Status)
}

// What the gateway serves there itself answered to any method: DELETE of the status was 200.
func TestTheAdminAPIRefusesOtherMethods(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	for path, allowed := range map[string]string{
		"status": "GET, HEAD", "targets": "GET, HEAD", "limits": "GET, HEAD", "configuration": "GET, HEAD", "configuration/caddyfile": "GET, HEAD",
		"usage/reprice": "POST", "backup": "POST",
	} {
		for _, other := range []string{http.MethodDelete, http.MethodPut, http.MethodPatch} {
			got := askAdmin(s, other, "/api/v1/"+path, "{}")
			assert.Equal(t, http.StatusMethodNotAllowed, got.Status, "%s %s", other, path)
			assert.Equal(t, allowed, got.Header.Get("Allow"), path)
		}
	}
}

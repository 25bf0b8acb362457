package module_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

// inAnotherProcess runs Caddy's command line in a process of its own, with the
// data directory of this one, and returns the standard output.
func inAnotherProcess(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], strings.Fields(line)...)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	require.NoError(t, err, "%s: %s", line, messages.String())
	return string(out)
}

// becomes waits until a key gets a status.
func (s *site) becomes(key string, status int) {
	s.t.Helper()
	assert.Eventually(s.t, func() bool { return s.statusNow(key) == status }, patience, pollEvery)
}

// configOf writes a Caddyfile with a store for the command line.
func configOf(t *testing.T, store string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "Caddyfile")
	text := "{\n\tadmin off\n}\n\nhttp://:8080 {\n\tai_gateway {\n\t\tprovider demo\n\t\tkey client {env.CLIENT_KEY}\n\t\t" + store + "\n\t}\n}\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// manage does with a gateway, from another process, what an administrator does.
func manage(t *testing.T, s *site, where string) {
	t.Helper()
	inAnotherProcess(t, "ai-gateway user add alice"+where)
	key := strings.TrimSpace(inAnotherProcess(t, "ai-gateway key new --user alice --name laptop"+where))
	s.becomes(key, http.StatusOK)
	inAnotherProcess(t, "ai-gateway user disable alice"+where)
	s.becomes(key, http.StatusUnauthorized)
	inAnotherProcess(t, "ai-gateway user enable alice"+where)
	s.becomes(key, http.StatusOK)
	inAnotherProcess(t, "ai-gateway key revoke 1"+where)
	s.becomes(key, http.StatusUnauthorized)
	assert.Equal(t, http.StatusOK, s.status(clientKey))
}

// What another process does to a gateway's users and keys counts, whichever way
// it comes.
func TestOtherProcessesManageARunningGateway(t *testing.T) {
	t.Run("through the file of the store", func(t *testing.T) {
		s := startSite(t, demoProvider)
		manage(t, s, "")
	})
	t.Run("through the admin API", func(t *testing.T) {
		s := startSite(t, demoProvider, "store sqlite "+filepath.Join(t.TempDir(), "own.db"))
		manage(t, s, " --address "+strings.TrimPrefix(s.AdminURL(""), "http://"))
		assert.NoFileExists(t, s.database())
	})
	t.Run("through one PostgreSQL", func(t *testing.T) {
		cluster, installed := storetest.Postgres(t)
		if !installed {
			return
		}
		t.Setenv("POSTGRES_DSN", cluster.NewDatabase(t))
		s := startSite(t, demoProvider, "store postgres {env.POSTGRES_DSN}")
		manage(t, s, " --config "+configOf(t, "store postgres {env.POSTGRES_DSN}"))
	})
}

// Two gateways share one PostgreSQL: a key that is made, disabled or deleted at
// the one counts so at the other within two seconds, and so does a login.
func TestTwoGatewaysOfOnePostgreSQLKnowTheSameKeys(t *testing.T) {
	cluster, installed := storetest.Postgres(t)
	if !installed {
		return
	}
	t.Setenv("POSTGRES_DSN", cluster.NewDatabase(t))
	const shared = "store postgres {env.POSTGRES_DSN}"
	s := startSite(t, demoProvider, shared)
	other := startProcess(t, "", demoProvider, shared)
	there := func(method, path, body, credential string) reply {
		return s.call(method, "http://"+other.site+path, body, "Authorization", "Bearer "+credential)
	}
	becomes := func(key string, status int) {
		t.Helper()
		assert.Eventually(t, func() bool {
			return there(http.MethodPost, chatPath, bodyFor(chatPath, "m", "hi", false), key).status == status
		}, patience, pollEvery)
	}
	s.addUser("alice")
	alice := s.as("site", "alice")
	id, key := alice.newKey()
	becomes(key, http.StatusOK)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodPut, "/api/token/?status_only=1", `{"id":`+id+`,"status":2}`).status)
	becomes(key, http.StatusUnauthorized)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodPut, "/api/token/?status_only=1", `{"id":`+id+`,"status":1}`).status)
	becomes(key, http.StatusOK)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodDelete, "/api/token/"+id, "").status)
	becomes(key, http.StatusUnauthorized)

	assert.Equal(t, http.StatusOK, there(http.MethodGet, "/api/user/self", "", alice.token).status)
	require.Equal(t, http.StatusOK, alice.ask(http.MethodPost, "/api/user/logout", "").status)
	assert.Equal(t, http.StatusUnauthorized, there(http.MethodGet, "/api/user/self", "", alice.token).status, "at once")
}

func TestTheAdminAPIRefusesWithoutRepeatingSecrets(t *testing.T) {
	s := startSite(t, demoProvider)
	for body, want := range map[string]string{
		`{"username":"alice","password":"a secret that is long enough"`: "JSON",
		`{"username":"not a name","password":"a secret that is long"}`:  "username",
		`{"username":"alice","password":"secret"}`:                      "password must be",
		`{"username":"alice","password":7}`:                             "password",
	} {
		got := s.admin(http.MethodPost, "/ai_gateway/users", body)
		assert.Equal(t, http.StatusBadRequest, got.status, body)
		assert.Regexp(t, `^\{"error":".*`+want, got.body)
		assert.NotContains(t, got.body+s.Logs.String(), "secret")
	}
	foreign := s.call(http.MethodPost, s.AdminURL("/ai_gateway/users"), `{"username":"alice"}`, "Origin", "https://evil.example.com")
	assert.Equal(t, http.StatusForbidden, foreign.status)
	assert.Equal(t, http.StatusNotFound, s.admin(http.MethodGet, "/ai_gateway/nothing", "").status)
	assert.Equal(t, http.StatusMethodNotAllowed, s.admin(http.MethodPut, "/ai_gateway/users", "{}").status)
}

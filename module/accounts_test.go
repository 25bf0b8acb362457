package module_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/storetest"
)

// password is that of every user of these tests.
const password = "correct horse battery staple"

// pollEvery is how often a test looks whether what must come has come.
const pollEvery = 20 * time.Millisecond

// call sends a request with a JSON body, "" for none, to a URL and reads the
// answer. headers are names and values in turn.
func (s *site) call(method, url, body string, headers ...string) reply {
	s.t.Helper()
	request, err := http.NewRequestWithContext(waiting(s.t), method, url, strings.NewReader(body))
	require.NoError(s.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.Client.Do(request)
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(raw), err}
}

// admin asks Caddy's admin API.
func (s *site) admin(method, path, body string) reply {
	s.t.Helper()
	return s.call(method, s.AdminURL(path), body)
}

// addUser adds a user with the password of these tests.
func (s *site) addUser(name string) {
	s.t.Helper()
	got := s.admin(http.MethodPost, "/ai_gateway/users", fmt.Sprintf(`{"username":%q,"password":%q}`, name, password))
	require.Equal(s.t, http.StatusOK, got.status, got.body)
}

// loggedIn is a user at a site of the configuration.
type loggedIn struct {
	*site
	port, token string
}

// logIn logs in at PORT(port).
func (s *site) logIn(port, name, password string) reply {
	s.t.Helper()
	return s.call(http.MethodPost, s.URL(port, "/api/user/login"), fmt.Sprintf(`{"username":%q,"password":%q}`, name, password))
}

// as logs in, which must succeed.
func (s *site) as(port, name string) loggedIn {
	s.t.Helper()
	got := s.logIn(port, name, password)
	require.Equal(s.t, http.StatusOK, got.status, got.body)
	return loggedIn{s, port, got.field(s.t, "access_token")}
}

// field is a text of the data of an answer.
func (r reply) field(t testing.TB, name string) string {
	t.Helper()
	var answer struct{ Data map[string]any }
	require.NoError(t, json.Unmarshal([]byte(r.body), &answer), r.body)
	return fmt.Sprint(answer.Data[name])
}

func (u loggedIn) ask(method, path, body string) reply {
	u.t.Helper()
	return u.call(method, u.URL(u.port, path), body, "Authorization", "Bearer "+u.token)
}

// newKey makes a key, and gives its id as well.
func (u loggedIn) newKey() (id, key string) {
	u.t.Helper()
	got := u.ask(http.MethodPost, "/api/token/", `{"name":"mine"}`)
	require.Equal(u.t, http.StatusOK, got.status, got.body)
	return got.field(u.t, "id"), got.field(u.t, "key")
}

// database is the file of the default store.
func (s *site) database() string { return filepath.Join(s.Dir, "caddy", "ai_gateway", "gateway.db") }

// A key that was made a moment ago counts, and one that was revoked a moment
// ago does not: clients and their owners do not wait.
func TestKeysThatUsersMakeCountAtOnce(t *testing.T) {
	s := startSite(t, demoProvider)
	s.addUser("alice")
	assert.Equal(t, http.StatusUnauthorized, s.status(s.as("site", "alice").token), "a session is no key")

	for name, revoke := range map[string]func(alice loggedIn, id string) reply{
		"disabled": func(alice loggedIn, id string) reply {
			return alice.ask(http.MethodPut, "/api/token/?status_only=1", `{"id":`+id+`,"status":2}`)
		},
		"deleted": func(alice loggedIn, id string) reply { return alice.ask(http.MethodDelete, "/api/token/"+id, "") },
		"deleted by the administrator": func(_ loggedIn, id string) reply {
			return s.admin(http.MethodDelete, "/ai_gateway/keys/"+id, "")
		},
		"disabled with its owner": func(loggedIn, string) reply {
			return s.admin(http.MethodPatch, "/ai_gateway/users/alice", `{"disabled":true}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.admin(http.MethodPatch, "/ai_gateway/users/alice", `{"disabled":false}`)
			alice := s.as("site", "alice")
			id, key := alice.newKey()
			answer := s.ask(chatPath, bodyFor(chatPath, "m", "hi", false), "Authorization", "Bearer "+key)
			require.Equal(t, http.StatusOK, answer.status)
			record := s.record(answer.id())
			assert.Equal(t, "key_"+id, record["key_id"])
			assert.Equal(t, "alice", record["key_owner"])
			revoked := revoke(alice, id)
			require.Equal(t, http.StatusOK, revoked.status, revoked.body)
			assert.Equal(t, http.StatusUnauthorized, s.status(key))
		})
	}
	assert.Equal(t, http.StatusOK, s.status(clientKey))
	info, err := os.Stat(s.database())
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAccountsThatAreOffLeaveTheirPathsToTheSite(t *testing.T) {
	s := startCaddyfile(t, siteBlock("respond next 202", demoProvider, "accounts off"))
	for _, path := range []string{"/api/user/login", "/api/token/", "/api/openapi.json", "/api/user/self"} {
		got := s.call(http.MethodPost, s.URL("site", path), "{}")
		assert.Equal(t, "next", got.body, path)
	}
	assert.Equal(t, http.StatusUnauthorized, s.status("sk-unknown-0123456789"), "there is no store to be in doubt of")
	for _, path := range []string{"/ai_gateway/users", "/ai_gateway/keys", "/ai_gateway/"} {
		got := s.admin(http.MethodGet, path, "")
		assert.Equal(t, http.StatusNotFound, got.status)
		assert.JSONEq(t, `{"error":"accounts are off, or no site has an ai_gateway"}`, got.body)
	}
	assert.NoFileExists(t, s.database())
}

// Keys of a store work beside accounts that are off: another site may have
// them on.
func TestAStoreWorksWithoutAccounts(t *testing.T) {
	config := func(first string) string {
		return siteBlock("", demoProvider, "store sqlite", first) +
			"http://127.0.0.1:PORT(open) {\nai_gateway {\n" + demoProvider + "\n}\n}\n"
	}
	s := startCaddyfile(t, config("accounts off"))
	s.addUser("alice")
	_, key := s.as("open", "alice").newKey()
	assert.Equal(t, http.StatusOK, s.status(key))
	assert.Equal(t, http.StatusOK, s.logIn("open", "alice", password).status)
	assert.Equal(t, http.StatusNotFound, s.logIn("site", "alice", password).status)
}

func TestSitesShareUsersUnlessTheyHaveTheirOwn(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.db")
	config := func(global, site, second string) string {
		return "{\nai_gateway {\nkey client {env.CLIENT_KEY}\n" + demoProvider + "\n" + global + "\n}\n}\n" +
			"http://127.0.0.1:PORT(site) {\nai_gateway {\n" + site + "\n}\n}\n" +
			"http://127.0.0.1:PORT(second) {\nai_gateway {\n" + second + "\n}\n}\n"
	}
	s := startCaddyfile(t, config("", "", "")).persistently()
	s.addUser("alice")
	_, key := s.as("second", "alice").newKey()
	assert.Equal(t, http.StatusOK, s.status(key), "a key of the other site")

	require.NoError(t, s.Reload(config("", "", "store sqlite "+own)))
	assert.Equal(t, http.StatusOK, s.logIn("site", "alice", password).status)
	assert.Equal(t, http.StatusUnauthorized, s.logIn("second", "alice", password).status)
	assert.Equal(t, http.StatusOK, s.admin(http.MethodGet, "/ai_gateway/users/alice", "").status, "those of the global option")

	require.NoError(t, s.Reload(config("", "accounts {\nsession 1h\n}", "store sqlite "+own)))
	ambiguous := s.admin(http.MethodGet, "/ai_gateway/users", "")
	assert.Equal(t, http.StatusConflict, ambiguous.status)
	assert.Contains(t, ambiguous.body, "several sites have users of their own")
	assert.Contains(t, s.logIn("site", "alice", password).header.Get("Set-Cookie"), "Max-Age=3600")

	require.NoError(t, s.Reload(config("store sqlite "+own, "accounts off", "")))
	s.addUser("bob")
	assert.Equal(t, http.StatusOK, s.logIn("second", "bob", password).status)
	assert.Equal(t, http.StatusNotFound, s.logIn("site", "bob", password).status)
}

// A reload once logged everyone out, and gave whoever guesses passwords new
// attempts.
func TestAReloadKeepsSessionsAndTheThrottle(t *testing.T) {
	s := startSite(t, demoProvider).persistently()
	s.addUser("alice")
	s.addUser("bob")
	alice := s.as("site", "alice")
	id, key := alice.newKey()
	for range 20 {
		if s.logIn("site", "bob", "a wrong password").status == http.StatusTooManyRequests {
			break
		}
	}
	for i := range 3 {
		require.NoError(t, s.Reload(siteBlock("", demoProvider, fmt.Sprint("max_body ", i+1, "MiB"))))
		assert.Equal(t, http.StatusOK, alice.ask(http.MethodGet, "/api/user/self", "").status)
		assert.Equal(t, http.StatusOK, s.status(key))
		throttled := s.logIn("site", "bob", password)
		assert.Equal(t, http.StatusTooManyRequests, throttled.status)
		assert.NotEmpty(t, throttled.header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, alice.ask(http.MethodDelete, "/api/token/"+id, "").status)
	assert.Equal(t, http.StatusUnauthorized, s.status(key))
}

func TestSessionsAndKeysOutliveARestart(t *testing.T) {
	s := startSite(t, demoProvider).persistently()
	s.addUser("alice")
	alice := s.as("site", "alice")
	_, key := alice.newKey()
	require.NoError(t, s.Reload(`{"apps":{}}`))
	require.NoError(t, s.Reload(siteBlock("", demoProvider)))
	assert.Equal(t, http.StatusOK, s.status(key))
	assert.Equal(t, http.StatusOK, alice.ask(http.MethodGet, "/api/user/self", "").status)
}

// While a store cannot be read, keys of the configuration work and no key is
// called wrong.
func TestADamagedStoreLocksNobodyOut(t *testing.T) {
	s := &site{gatewaytest.NewCaddy(t), t}
	t.Setenv("CLIENT_KEY", clientKey)
	require.NoError(t, os.MkdirAll(filepath.Dir(s.database()), 0o700))
	require.NoError(t, os.WriteFile(s.database(), []byte(strings.Repeat("this is no database. ", 999)), 0o600))
	require.NoError(t, s.Reload(siteBlock("", demoProvider)))
	assert.Equal(t, http.StatusOK, s.status(clientKey))
	unknown := s.ask(chatPath, bodyFor(chatPath, "m", "hi", false), "Authorization", "Bearer sk-unknown-0123456789")
	assert.Equal(t, http.StatusServiceUnavailable, unknown.status)
	assert.Equal(t, "5", unknown.header.Get("Retry-After"))
	login := s.logIn("site", "alice", password)
	assert.Equal(t, http.StatusServiceUnavailable, login.status)
	assert.NotEmpty(t, login.header.Get("Retry-After"))
	assert.NotContains(t, login.body, s.Dir)
}

func TestAStoppedPostgreSQLLocksNobodyOut(t *testing.T) {
	cluster, installed := storetest.Postgres(t)
	if !installed {
		return
	}
	t.Setenv("POSTGRES_DSN", cluster.NewDatabase(t))
	s := startSite(t, demoProvider, "store postgres {env.POSTGRES_DSN}").persistently()
	s.addUser("alice")
	id, key := s.as("site", "alice").newKey()
	cluster.Stop(t)
	require.Eventually(t, func() bool { return s.statusNow("sk-unknown-0123456789") == http.StatusServiceUnavailable }, patience, pollEvery)
	assert.Equal(t, http.StatusOK, s.status(key), "what is known stays known")
	assert.Equal(t, http.StatusOK, s.status(clientKey))
	require.NoError(t, s.Reload(siteBlock("", demoProvider, "store postgres {env.POSTGRES_DSN}", "max_body 1MiB")))
	assert.Equal(t, http.StatusOK, s.status(key), "over a reload too")
	assert.Equal(t, http.StatusServiceUnavailable, s.logIn("site", "alice", password).status)

	cluster.Start(t)
	require.Eventually(t, func() bool { return s.statusNow("sk-unknown-0123456789") == http.StatusUnauthorized }, patience, pollEvery)
	require.Equal(t, http.StatusOK, s.admin(http.MethodDelete, "/ai_gateway/keys/"+id, "").status)
	assert.Equal(t, http.StatusUnauthorized, s.status(key))
}

// A file that became empty once made every key of users a wrong one, which
// clients throw away.
func TestAnEmptiedStoreRevokesNoKey(t *testing.T) {
	s := startSite(t, demoProvider)
	s.addUser("alice")
	_, key := s.as("site", "alice").newKey()
	require.Equal(t, http.StatusOK, s.status(key))
	empty := s.database() + ".new"
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, os.Rename(empty, s.database()))
	require.NoError(t, s.Logs.Wait(waiting(t), "store is not available"))
	require.NoError(t, s.Logs.Wait(waiting(t), "put a copy of it back"))

	assert.Equal(t, http.StatusOK, s.statusNow(key))
	assert.Equal(t, http.StatusOK, s.statusNow(clientKey))
	assert.Equal(t, http.StatusServiceUnavailable, s.statusNow("sk-unknown-0123456789"))
	got := s.ask(messagesPath, bodyFor(messagesPath, "m", "hi", false), "Authorization", "Bearer sk-unknown-0123456789")
	assert.Equal(t, 529, got.status)
	assert.Equal(t, http.StatusServiceUnavailable, s.logIn("site", "alice", password).status)
}

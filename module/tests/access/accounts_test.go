package access_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A new key is valid at once, and a revoked key is invalid at once.
func TestKeysThatUsersMakeCountAtOnce(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, logInAs(s, "site", "alice").token), "a session is no key")

	for name, revoke := range map[string]func(alice loggedIn, id string) site.Reply{
		"disabled": func(alice loggedIn, id string) site.Reply {
			return alice.ask(http.MethodPut, "/api/token/?status_only=1", `{"id":`+id+`,"status":2}`)
		},
		"deleted": func(alice loggedIn, id string) site.Reply { return alice.ask(http.MethodDelete, "/api/token/"+id, "") },
		"deleted by the administrator": func(_ loggedIn, id string) site.Reply {
			return askAdmin(s, http.MethodDelete, "/api/v1/keys/"+id, "")
		},
		"disabled with its owner": func(loggedIn, string) site.Reply {
			return askAdmin(s, http.MethodPatch, "/api/v1/users/alice", `{"disabled":true}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			askAdmin(s, http.MethodPatch, "/api/v1/users/alice", `{"disabled":false}`)
			alice := logInAs(s, "site", "alice")
			id, key := alice.newKey()
			answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+key)
			require.Equal(t, http.StatusOK, answer.Status)
			record := s.Record(answer.ID())
			assert.Equal(t, "key_"+id, record["key_id"])
			assert.Equal(t, "alice", record["key_owner"])
			revoked := revoke(alice, id)
			require.Less(t, revoked.Status, http.StatusMultipleChoices, revoked.Body)
			assert.Equal(t, http.StatusUnauthorized, site.Status(s, key))
		})
	}
	assert.Equal(t, http.StatusOK, site.Status(s, site.ClientKey))
	info, err := os.Stat(databaseOf(s))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestAccountsThatAreOffLeaveTheirPathsToTheSite(t *testing.T) {
	s := site.StartCaddyfile(t, site.Block("respond next 202", site.DemoProvider, "accounts off"))
	for _, path := range []string{"/api/user/login", "/api/token/", "/api/openapi.json", "/api/user/self"} {
		got := s.Call(http.MethodPost, s.URL("site", path), "{}")
		assert.Equal(t, "next", got.Body, path)
	}
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, "sk-unknown-0123456789"), "there is no store to be in doubt of")
	for _, path := range []string{"/api/v1/users", "/api/v1/keys", "/api/v1/"} {
		got := askAdmin(s, http.MethodGet, path, "")
		assert.Equal(t, http.StatusNotFound, got.Status)
		assert.JSONEq(t, `{"title":"Not Found","status":404,"detail":"accounts are off, or no site has an ai_gateway"}`, got.Body)
	}
	assert.NoFileExists(t, databaseOf(s))
}

// Keys of a store are valid even if the site has no accounts, because another site may have
// them.
func TestAStoreWorksWithoutAccounts(t *testing.T) {
	config := func(first string) string {
		return site.Block("", site.DemoProvider, "store sqlite", first) +
			"http://127.0.0.1:PORT(open) {\nai_gateway {\n" + site.DemoProvider + "\n}\n}\n"
	}
	s := site.StartCaddyfile(t, config("accounts off"))
	s.AddUser("alice")
	_, key := logInAs(s, "open", "alice").newKey()
	assert.Equal(t, http.StatusOK, site.Status(s, key))
	assert.Equal(t, http.StatusOK, logIn(s, "open", "alice", site.Password).Status)
	assert.Equal(t, http.StatusNotFound, logIn(s, "site", "alice", site.Password).Status)
}

// Usage and budgets of a key count for its owner by name. A stranger who registered that name
// on any site read the usage of the key, and spent the budget of its owner.
func TestOwnersOfKeysCannotBeRegistered(t *testing.T) {
	t.Setenv("KEY_ALICE", site.AliceKey)
	t.Setenv("KEY_BOB", site.BobKey)
	file, _ := site.KeysFile(t, "key bob {env.KEY_BOB} {", "\towner Bob", "}")
	s := site.StartCaddyfile(t, "{\nai_gateway {\naccounts {\nregistration on\nthrottle off\n}\n}\n}\n"+
		site.Block("", site.DemoProvider, "key alice {env.KEY_ALICE} {\nowner alice\n}")+keyless("keys_file "+file))
	for _, port := range []string{"site", "keyless"} {
		for name, want := range map[string]int{"alice": http.StatusConflict, "bob": http.StatusConflict, "free-at-" + port: http.StatusOK} {
			got := s.Call(http.MethodPost, s.URL(port, "/api/user/register"), fmt.Sprintf(`{"username":%q,"password":%q}`, name, site.Password))
			assert.Equal(t, want, got.Status, "%s at %s: %s", name, port, got.Body)
		}
	}
	s.AddUser("alice")
	assert.Equal(t, http.StatusOK, logIn(s, "site", "alice", site.Password).Status, "an administrator creates the account of an owner")
}

func TestSitesShareUsersUnlessTheyHaveTheirOwn(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.db")
	config := func(global, first, second string) string {
		return "{\nai_gateway {\nkey client {env.CLIENT_KEY}\n" + site.DemoProvider + "\n" + global + "\n}\n}\n" +
			"http://127.0.0.1:PORT(site) {\nai_gateway {\n" + first + "\n}\n}\n" +
			"http://127.0.0.1:PORT(second) {\nai_gateway {\n" + second + "\n}\n}\n"
	}
	s := site.StartCaddyfile(t, config("", "", ""))
	s.AddUser("alice")
	_, key := logInAs(s, "second", "alice").newKey()
	assert.Equal(t, http.StatusOK, site.Status(s, key), "a key of the other site")

	require.NoError(t, s.Reload(config("", "", "store sqlite "+own)))
	assert.Equal(t, http.StatusOK, logIn(s, "site", "alice", site.Password).Status)
	assert.Equal(t, http.StatusUnauthorized, logIn(s, "second", "alice", site.Password).Status)
	assert.Equal(t, http.StatusOK, askAdmin(s, http.MethodGet, "/api/v1/users/alice", "").Status, "those of the global option")

	require.NoError(t, s.Reload(config("", "accounts {\nsession 1h\n}", "store sqlite "+own)))
	ambiguous := askAdmin(s, http.MethodGet, "/api/v1/users", "")
	assert.Equal(t, http.StatusConflict, ambiguous.Status)
	assert.Contains(t, ambiguous.Body, "several sites have users of their own")
	assert.Contains(t, logIn(s, "site", "alice", site.Password).Header.Get("Set-Cookie"), "Max-Age=3600")

	require.NoError(t, s.Reload(config("store sqlite "+own, "accounts off", "")))
	s.AddUser("bob")
	assert.Equal(t, http.StatusOK, logIn(s, "second", "bob", site.Password).Status)
	assert.Equal(t, http.StatusNotFound, logIn(s, "site", "bob", site.Password).Status)
}

// A reload once ended all sessions, and reset the throttle of password guesses.
func TestAReloadKeepsSessionsAndTheThrottle(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	s.AddUser("bob")
	alice := logInAs(s, "site", "alice")
	id, key := alice.newKey()
	for range 20 {
		if logIn(s, "site", "bob", "a wrong password").Status == http.StatusTooManyRequests {
			break
		}
	}
	for i := range 3 {
		require.NoError(t, s.Reload(site.Block("", site.DemoProvider, fmt.Sprint("max_body ", i+1, "MiB"))))
		assert.Equal(t, http.StatusOK, alice.ask(http.MethodGet, "/api/user/self", "").Status)
		assert.Equal(t, http.StatusOK, site.Status(s, key))
		throttled := logIn(s, "site", "bob", site.Password)
		assert.Equal(t, http.StatusTooManyRequests, throttled.Status)
		assert.NotEmpty(t, throttled.Header.Get("Retry-After"))
	}
	require.Equal(t, http.StatusOK, alice.ask(http.MethodDelete, "/api/token/"+id, "").Status)
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, key))
}

func TestSessionsAndKeysOutliveARestart(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	alice := logInAs(s, "site", "alice")
	_, key := alice.newKey()
	require.NoError(t, s.Reload(`{"apps":{}}`))
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider)))
	assert.Equal(t, http.StatusOK, site.Status(s, key))
	assert.Equal(t, http.StatusOK, alice.ask(http.MethodGet, "/api/user/self", "").Status)
}

// While a store cannot be read, keys of the configuration are valid, and no key is reported
// as invalid.
func TestADamagedStoreLocksNobodyOut(t *testing.T) {
	s := &site.Site{Caddy: gatewaytest.NewCaddy(t), T: t}
	t.Setenv("CLIENT_KEY", site.ClientKey)
	require.NoError(t, os.MkdirAll(filepath.Dir(databaseOf(s)), 0o700))
	require.NoError(t, os.WriteFile(databaseOf(s), []byte(strings.Repeat("this is no database. ", 999)), 0o600))
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider)))
	assert.Equal(t, http.StatusOK, site.Status(s, site.ClientKey))
	unknown := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer sk-unknown-0123456789")
	assert.Equal(t, http.StatusServiceUnavailable, unknown.Status)
	assert.Equal(t, "5", unknown.Header.Get("Retry-After"))
	login := logIn(s, "site", "alice", site.Password)
	assert.Equal(t, http.StatusServiceUnavailable, login.Status)
	assert.NotEmpty(t, login.Header.Get("Retry-After"))
	assert.NotContains(t, login.Body, s.Dir)
}

func TestAStoppedPostgreSQLLocksNobodyOut(t *testing.T) {
	cluster, installed := storetest.Postgres(t)
	if !installed {
		return
	}
	t.Setenv("POSTGRES_DSN", cluster.NewDatabase(t))
	s := site.Start(t, site.DemoProvider, "store postgres {env.POSTGRES_DSN}")
	s.AddUser("alice")
	id, key := logInAs(s, "site", "alice").newKey()
	cluster.Stop(t)
	require.Eventually(t, func() bool { return site.StatusNow(s, "sk-unknown-0123456789") == http.StatusServiceUnavailable }, site.Patience, site.PollEvery)
	assert.Equal(t, http.StatusOK, site.Status(s, key), "what is known stays known")
	assert.Equal(t, http.StatusOK, site.Status(s, site.ClientKey))
	require.NoError(t, s.Reload(site.Block("", site.DemoProvider, "store postgres {env.POSTGRES_DSN}", "max_body 1MiB")))
	assert.Equal(t, http.StatusOK, site.Status(s, key), "over a reload too")
	assert.Equal(t, http.StatusServiceUnavailable, logIn(s, "site", "alice", site.Password).Status)

	cluster.Start(t)
	require.Eventually(t, func() bool { return site.StatusNow(s, "sk-unknown-0123456789") == http.StatusUnauthorized }, site.Patience, site.PollEvery)
	require.Equal(t, http.StatusNoContent, askAdmin(s, http.MethodDelete, "/api/v1/keys/"+id, "").Status)
	assert.Equal(t, http.StatusUnauthorized, site.Status(s, key))
}

// After a file became empty, every key of a user was once reported as invalid, after which
// clients discard the key.
func TestAnEmptiedStoreRevokesNoKey(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("alice")
	_, key := logInAs(s, "site", "alice").newKey()
	require.Equal(t, http.StatusOK, site.Status(s, key))
	empty := databaseOf(s) + ".new"
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, os.Rename(empty, databaseOf(s)))
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "store is not available"))
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "restore a backup"))

	assert.Equal(t, http.StatusOK, site.StatusNow(s, key))
	assert.Equal(t, http.StatusOK, site.StatusNow(s, site.ClientKey))
	assert.Equal(t, http.StatusServiceUnavailable, site.StatusNow(s, "sk-unknown-0123456789"))
	got := s.Ask(site.MessagesPath, site.BodyFor(site.MessagesPath, "m", "hi", false), "Authorization", "Bearer sk-unknown-0123456789")
	assert.Equal(t, 529, got.Status)
	assert.Equal(t, http.StatusServiceUnavailable, logIn(s, "site", "alice", site.Password).Status)
}

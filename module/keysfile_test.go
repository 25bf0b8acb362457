package module_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// keysFile writes a file of keys and gives what writes it anew.
func keysFile(t *testing.T, lines ...string) (path string, rewrite func(lines ...string)) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys")
	rewrite = func(lines ...string) {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	rewrite(lines...)
	return path, rewrite
}

// status is what a key gets at the chat endpoint, once the gateway can tell: on
// a busy machine its store may not have been looked at for a while.
func (s *site) status(key string) (status int) {
	s.t.Helper()
	assert.Eventually(s.t, func() bool {
		status = s.statusNow(key)
		return status != http.StatusServiceUnavailable
	}, patience, pollEvery)
	return status
}

// statusNow is what a key gets at this moment.
func (s *site) statusNow(key string) int {
	s.t.Helper()
	return s.ask(chatPath, bodyFor(chatPath, "m", "hi", false), "Authorization", "Bearer "+key).status
}

const demoProvider = "provider demo {\npace off\n}"

func TestAKeysFileIsFollowedWithoutAReload(t *testing.T) {
	setKeys(t)
	path, rewrite := keysFile(t, "key alice {env.KEY_ALICE} {", "\towner alice", "\tlimit small", "}")
	s := startSite(t, demoProvider, "limit small {\nconcurrent 8\n}", "keys_file "+path)
	assert.Equal(t, http.StatusOK, s.status(aliceKey))
	assert.Equal(t, http.StatusUnauthorized, s.status(bobKey))

	rewrite("key bob {env.KEY_BOB}")
	require.NoError(t, s.Logs.Wait(waiting(t), "keys file has changed"))
	assert.Equal(t, http.StatusUnauthorized, s.status(aliceKey))
	assert.Equal(t, http.StatusOK, s.status(bobKey))

	rewrite("key bob {env.KEY_BOB}", "key alice "+aliceKey)
	require.NoError(t, s.Logs.Wait(waiting(t), "keys file is wrong"))
	require.NoError(t, s.Logs.Wait(waiting(t), "keys:2"))
	assert.Equal(t, http.StatusOK, s.status(bobKey), "a bad edit locks nobody out")

	require.NoError(t, os.Remove(path))
	require.NoError(t, s.Logs.Wait(waiting(t), "keys file cannot be read"))
	assert.Equal(t, http.StatusOK, s.status(bobKey))
	assert.Equal(t, http.StatusOK, s.status(clientKey))
	assert.NotContains(t, s.Logs.String(), aliceKey)
}

// A key that a file of keys had in common with the configuration was once found
// only by the next reload, which it made fail.
func TestAKeysFileMayNotRepeatAKeyOfTheConfiguration(t *testing.T) {
	setKeys(t)
	path, rewrite := keysFile(t, "key client {env.KEY_ALICE}")
	s := startSite(t, demoProvider).persistently()
	same := siteBlock("", demoProvider, "keys_file "+path)
	assert.ErrorContains(t, s.Reload(same), "key 'client' is defined twice")
	rewrite("key other {env.CLIENT_KEY}")
	assert.ErrorContains(t, s.Reload(same), "key 'other' has the same value as key 'client'")

	rewrite("key alice {env.KEY_ALICE}")
	require.NoError(t, s.Reload(same))
	for _, wrong := range []string{"key client sha256:" + strings.Repeat("0", 64), "key other {env.CLIENT_KEY}"} {
		rewrite("key bob {env.KEY_BOB}", wrong)
		require.NoError(t, s.Logs.Wait(waiting(t), "key '"+strings.Fields(wrong)[1]+"' "))
		assert.Equal(t, http.StatusUnauthorized, s.status(bobKey))
		assert.Equal(t, http.StatusOK, s.status(aliceKey))
	}
}

// A site's keys are checked against a file that all sites share, too.
func TestASharedKeysFileIsCheckedAgainstEverySite(t *testing.T) {
	setKeys(t)
	path, rewrite := keysFile(t, "key alice {env.KEY_ALICE}")
	s := startCaddyfile(t, "{\nai_gateway {\n"+demoProvider+"\nkeys_file "+path+"\n}\n}\n"+siteBlock(""))
	assert.Equal(t, http.StatusOK, s.status(aliceKey))
	rewrite("key client {env.KEY_BOB}")
	require.NoError(t, s.Logs.Wait(waiting(t), "key 'client' is defined twice"))
	assert.Equal(t, http.StatusOK, s.status(aliceKey))
	assert.Equal(t, http.StatusOK, s.status(clientKey))
}

func TestOwnerAndLimitOfAKeyAreLogged(t *testing.T) {
	setKeys(t)
	s := startCaddyfile(t, siteBlock("log\nlog_append owner {http.ai_gateway.key_owner}\nlog_append limit {http.ai_gateway.limit}\nlog_append user {http.auth.user.id}",
		demoProvider, "limit small {\nconcurrent 8\n}", "key alice {env.KEY_ALICE} {\nowner alice@example.com\nlimit small\n}"))
	answer := s.ask(chatPath, bodyFor(chatPath, "m", "hi", false), "Authorization", "Bearer "+aliceKey)
	entry := s.access(answer.id())
	record := entry["ai_gateway"].(map[string]any)
	assert.Equal(t, "alice@example.com", record["key_owner"])
	assert.Equal(t, "small", record["limit"])
	assert.Equal(t, []any{"alice@example.com", "small", "alice"}, []any{entry["owner"], entry["limit"], entry["user"]})
}

func TestAKeyThatHasExpiredIsReportedWhenItIsLoaded(t *testing.T) {
	setKeys(t)
	s := startSite(t, demoProvider, "key alice {env.KEY_ALICE} {\nexpires 2020-01-01\n}")
	require.NoError(t, s.Logs.Wait(waiting(t), "key has expired"))
}

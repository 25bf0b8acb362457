package access_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statusOf returns the status of a chat request with a key, once the gateway can
// decide: on a busy machine its store may not have been polled for a while.
func statusOf(s *site.Site, key string) (status int) {
	s.T.Helper()
	assert.Eventually(s.T, func() bool {
		status = statusNow(s, key)
		return status != http.StatusServiceUnavailable
	}, site.Patience, pollEvery)
	return status
}

// statusNow is statusOf without waiting.
func statusNow(s *site.Site, key string) int {
	s.T.Helper()
	return s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+key).Status
}

func TestAKeysFileIsFollowedWithoutAReload(t *testing.T) {
	site.SetKeys(t)
	path, rewrite := site.KeysFile(t, "key alice {env.KEY_ALICE} {", "\towner alice", "\tlimit small", "}")
	s := site.Start(t, site.DemoProvider, "limit small {\nconcurrent 8\n}", "keys_file "+path)
	assert.Equal(t, http.StatusOK, statusOf(s, site.AliceKey))
	assert.Equal(t, http.StatusUnauthorized, statusOf(s, site.BobKey))

	rewrite("key bob {env.KEY_BOB}")
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "keys file has changed"))
	assert.Equal(t, http.StatusUnauthorized, statusOf(s, site.AliceKey))
	assert.Equal(t, http.StatusOK, statusOf(s, site.BobKey))

	rewrite("key bob {env.KEY_BOB}", "key alice "+site.AliceKey)
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "keys file is wrong"))
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "keys:2"))
	assert.Equal(t, http.StatusOK, statusOf(s, site.BobKey), "a bad edit locks nobody out")

	require.NoError(t, os.Remove(path))
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "keys file cannot be read"))
	assert.Equal(t, http.StatusOK, statusOf(s, site.BobKey))
	assert.Equal(t, http.StatusOK, statusOf(s, site.ClientKey))
	assert.NotContains(t, s.Logs.String(), site.AliceKey)
}

// A key that a file of keys had in common with the configuration was once found
// only by the next reload, which it made fail.
func TestAKeysFileMayNotRepeatAKeyOfTheConfiguration(t *testing.T) {
	site.SetKeys(t)
	path, rewrite := site.KeysFile(t, "key client {env.KEY_ALICE}")
	s := site.Start(t, site.DemoProvider).Persistently()
	same := site.Block("", site.DemoProvider, "keys_file "+path)
	assert.ErrorContains(t, s.Reload(same), "key 'client' is defined twice")
	rewrite("key other {env.CLIENT_KEY}")
	assert.ErrorContains(t, s.Reload(same), "key 'other' has the same value as key 'client'")

	rewrite("key alice {env.KEY_ALICE}")
	require.NoError(t, s.Reload(same))
	for _, wrong := range []string{"key client sha256:" + strings.Repeat("0", 64), "key other {env.CLIENT_KEY}"} {
		rewrite("key bob {env.KEY_BOB}", wrong)
		require.NoError(t, s.Logs.Wait(site.Waiting(t), "key '"+strings.Fields(wrong)[1]+"' "))
		assert.Equal(t, http.StatusUnauthorized, statusOf(s, site.BobKey))
		assert.Equal(t, http.StatusOK, statusOf(s, site.AliceKey))
	}
}

// A site's keys are checked against a file that all sites share, too.
func TestASharedKeysFileIsCheckedAgainstEverySite(t *testing.T) {
	site.SetKeys(t)
	path, rewrite := site.KeysFile(t, "key alice {env.KEY_ALICE}")
	s := site.StartCaddyfile(t, "{\nai_gateway {\n"+site.DemoProvider+"\nkeys_file "+path+"\n}\n}\n"+site.Block(""))
	assert.Equal(t, http.StatusOK, statusOf(s, site.AliceKey))
	rewrite("key client {env.KEY_BOB}")
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "key 'client' is defined twice"))
	assert.Equal(t, http.StatusOK, statusOf(s, site.AliceKey))
	assert.Equal(t, http.StatusOK, statusOf(s, site.ClientKey))
}

func TestOwnerAndLimitOfAKeyAreLogged(t *testing.T) {
	site.SetKeys(t)
	s := site.StartCaddyfile(t, site.Block("log\nlog_append owner {http.ai_gateway.key_owner}\nlog_append limit {http.ai_gateway.limit}\nlog_append user {http.auth.user.id}",
		site.DemoProvider, "limit small {\nconcurrent 8\n}", "key alice {env.KEY_ALICE} {\nowner alice@example.com\nlimit small\n}"))
	answer := s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "m", "hi", false), "Authorization", "Bearer "+site.AliceKey)
	entry := s.AccessEntry(answer.ID())
	record := entry["ai_gateway"].(map[string]any)
	assert.Equal(t, "alice@example.com", record["key_owner"])
	assert.Equal(t, "small", record["limit"])
	assert.Equal(t, []any{"alice@example.com", "small", "alice"}, []any{entry["owner"], entry["limit"], entry["user"]})
}

func TestAKeyThatHasExpiredIsReportedWhenItIsLoaded(t *testing.T) {
	site.SetKeys(t)
	s := site.Start(t, site.DemoProvider, "key alice {env.KEY_ALICE} {\nexpires 2020-01-01\n}")
	require.NoError(t, s.Logs.Wait(site.Waiting(t), "key has expired"))
}

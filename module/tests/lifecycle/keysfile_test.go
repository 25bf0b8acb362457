package lifecycle_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// A gateway polls a keys file, and applies a text that it has read twice. These tests have
// to wait for that, so each has its own process, and they run in parallel.

func TestAKeysFileIsFollowedWithoutAReload(t *testing.T) {
	t.Parallel()
	path, rewrite := site.KeysFile(t, "key alice {env.KEY_ALICE} {", "\towner alice", "\tlimit small", "}")
	p := site.StartProcess(t, "", site.DemoProvider, "limit small {\nconcurrent 8\n}", "keys_file "+path)
	assert.Equal(t, http.StatusOK, site.Status(p, site.AliceKey))
	assert.Equal(t, http.StatusUnauthorized, site.Status(p, site.BobKey))

	rewrite("key bob {env.KEY_BOB}")
	p.Wait("keys file has changed")
	assert.Equal(t, http.StatusUnauthorized, site.Status(p, site.AliceKey))
	assert.Equal(t, http.StatusOK, site.Status(p, site.BobKey))

	rewrite("key bob {env.KEY_BOB}", "key alice "+site.AliceKey)
	p.Wait("keys file is invalid")
	p.Wait("keys:2")
	assert.Equal(t, http.StatusOK, site.Status(p, site.BobKey), "a bad edit locks nobody out")

	require.NoError(t, os.Remove(path))
	p.Wait("keys file cannot be read")
	assert.Equal(t, http.StatusOK, site.Status(p, site.BobKey))
	assert.Equal(t, http.StatusOK, site.Status(p, site.ClientKey))
	assert.NotContains(t, p.Log(), site.AliceKey)
}

// A key in both a keys file and the configuration was once detected only by the next
// reload, which then failed.
func TestAKeysFileMayNotRepeatAKeyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	path, rewrite := site.KeysFile(t, "key client {env.KEY_ALICE}")
	p := site.StartProcess(t, "", site.DemoProvider)
	p.AssertRefuses("key 'client' is defined twice", "", site.DemoProvider, "keys_file "+path)
	rewrite("key other {env.CLIENT_KEY}")
	p.AssertRefuses("key 'other' has the same value as key 'client'", "", site.DemoProvider, "keys_file "+path)

	rewrite("key alice {env.KEY_ALICE}")
	p.Reload("", site.DemoProvider, "keys_file "+path)
	for _, wrong := range []string{"key client sha256:" + strings.Repeat("0", 64), "key other {env.CLIENT_KEY}"} {
		rewrite("key bob {env.KEY_BOB}", wrong)
		p.Wait("keys file is invalid; keeping its previous keys\",\"path\":\"" + path + "\",\"error\":\"key '" + strings.Fields(wrong)[1] + "' ")
		assert.Equal(t, http.StatusUnauthorized, site.Status(p, site.BobKey))
		assert.Equal(t, http.StatusOK, site.Status(p, site.AliceKey))
	}
}

// A site's keys are checked against a file that all sites share, too.
func TestASharedKeysFileIsCheckedAgainstEverySite(t *testing.T) {
	t.Parallel()
	path, rewrite := site.KeysFile(t, "key alice {env.KEY_ALICE}")
	p := site.StartProcess(t, "ai_gateway {\n"+site.DemoProvider+"\nkeys_file "+path+"\n}")
	assert.Equal(t, http.StatusOK, site.Status(p, site.AliceKey))
	rewrite("key client {env.KEY_BOB}")
	p.Wait("key 'client' is defined twice")
	assert.Equal(t, http.StatusOK, site.Status(p, site.AliceKey))
	assert.Equal(t, http.StatusOK, site.Status(p, site.ClientKey))
}

func TestKeysOfALimitThatIsNotThereAreRefused(t *testing.T) {
	t.Parallel()
	path, rewrite := site.KeysFile(t, "key alice {env.KEY_ALICE}")
	p := site.StartProcess(t, "", site.DemoProvider, "keys_file "+path)
	p.AssertRefuses("key 'bob' names the limit 'small', which is not defined",
		"", site.DemoProvider, "key bob {env.KEY_BOB} {\nlimit small\n}")
	rewrite("# one line", "key bob {env.KEY_BOB}", "key alice {env.KEY_ALICE} {", "limit small", "}")
	p.Wait("key 'alice' names the limit 'small', which is not defined, at " + path + ":3")
	assert.Equal(t, http.StatusOK, site.Status(p, site.AliceKey), "the keys that were there before stay")
	assert.Equal(t, http.StatusUnauthorized, site.Status(p, site.BobKey))

	p.AssertRefuses("names the limit 'small'", "", site.DemoProvider, "keys_file "+path)
	p.Reload("", site.DemoProvider, "keys_file "+path, "limit small {\nrequests 1/1h\n}")
	assert.Equal(t, http.StatusOK, site.Status(p, site.AliceKey))
	site.WaitStatus(p, site.AliceKey, http.StatusTooManyRequests) // the old configuration may have taken a connection more
}

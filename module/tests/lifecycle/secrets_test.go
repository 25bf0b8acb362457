package lifecycle_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// secretFile writes a secret into a file. It returns the reference to the file, and a
// function that replaces the secret.
func secretFile(t *testing.T, name, secret string) (reference string, rotate func(secret string)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	rotate = func(secret string) { require.NoError(t, os.WriteFile(path, []byte(secret+"\n"), 0o600)) }
	rotate(secret)
	return "{file." + path + "}", rotate
}

// accepts answers requests with the API key, and refuses all others.
func accepts(key string) gatewaytest.Step {
	return func(c *gatewaytest.Call) {
		if c.Request.Header.Get("Authorization") != "Bearer "+key {
			gatewaytest.Status(http.StatusUnauthorized)(c)
			return
		}
		gatewaytest.Answer()(c)
	}
}

// The gateway once sent the old key of a provider after its rotation, also after a reload,
// because Caddy skips a configuration that has not changed. A key that rests because the
// provider has refused it is tried again at once.
func TestARotatedKeyOfAProviderIsUsedWithoutAReload(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"directly": "", "by reverse_proxy": "lb_retries 0\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := gatewaytest.NewProvider(t)
			provider.Always(accepts("sk-first-of-provider"))
			reference, rotate := secretFile(t, "provider", "sk-first-of-provider")
			p := site.StartProcess(t, "", "provider up openai_compatible "+reference+" {\nbase_url http://"+provider.Address()+"/v1\n"+line+"cooldown 1h\n}")
			assert.Equal(t, http.StatusOK, site.Status(p, site.ClientKey))

			provider.Always(accepts("sk-second-of-provider"))
			assert.Equal(t, http.StatusBadGateway, site.Status(p, site.ClientKey))
			rotate("sk-second-of-provider")
			site.WaitStatus(p, site.ClientKey, http.StatusOK)
			p.Wait(`secret has changed","provider":"up","reference":"` + reference)

			rotate("")
			p.Wait("secret is invalid; keeping its previous value")
			assert.Equal(t, http.StatusOK, site.Status(p, site.ClientKey))
			rotate("sk-second\nof-provider")
			p.Wait("an API key has one line")
			assert.Equal(t, http.StatusOK, site.Status(p, site.ClientKey))
			assert.NotContains(t, p.Log(), "of-provider")
		})
	}
}

// A leaked key of a client once stayed valid after its rotation.
func TestARotatedKeyOfAClientReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	for name, conflict := range map[string]string{
		"of the configuration": "has the same value as key client",
		"of a keys file":       "key 'mobile' has the same value as key 'client'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reference, rotate := secretFile(t, "client", "sk-first-of-client-0123")
			keys := "key mobile " + reference
			if name == "of a keys file" {
				path, _ := site.KeysFile(t, keys+" {", "limit small", "}")
				keys = "keys_file " + path
			}
			p := site.StartProcess(t, "", site.DemoProvider, "limit small {\nconcurrent 8\n}", keys)
			assert.Equal(t, http.StatusOK, site.Status(p, "sk-first-of-client-0123"))
			rotate("sk-second-of-client-0123")
			p.Wait(`secret has changed","key":"mobile","reference":"` + reference)
			assert.Equal(t, http.StatusUnauthorized, site.Status(p, "sk-first-of-client-0123"))
			assert.Equal(t, http.StatusOK, site.Status(p, "sk-second-of-client-0123"))

			rotate("short")
			p.Wait("a key has 8 to 256 printable ASCII characters")
			rotate(site.ClientKey)
			p.Wait(conflict)
			assert.Equal(t, http.StatusOK, site.Status(p, "sk-second-of-client-0123"))
			assert.Equal(t, http.StatusOK, site.Status(p, site.ClientKey))
			assert.NotContains(t, p.Log(), "of-client")
		})
	}
}

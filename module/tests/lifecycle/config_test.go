package lifecycle_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// askAt sends a request to one of several sites.
func askAt(s *site.Site, port, path, key, model string) site.Reply {
	s.T.Helper()
	request, err := http.NewRequestWithContext(site.Waiting(s.T), http.MethodPost, s.URL(port, path), strings.NewReader(site.BodyFor(path, model, "hi", false)))
	require.NoError(s.T, err)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := s.Client.Do(request)
	require.NoError(s.T, err)
	defer func() { _ = response.Body.Close() }()
	return site.Reply{Status: response.StatusCode, Header: response.Header}
}

// TestSitesInheritFromTheGlobalOptionAndAddToIt sends requests to two sites, for their
// common parts and for parts that only one of them has.
func TestSitesInheritFromTheGlobalOptionAndAddToIt(t *testing.T) {
	site.SetKeys(t)
	shared, own := gatewaytest.NewProvider(t), gatewaytest.NewProvider(t)
	s := site.StartCaddyfile(t, `{
		ai_gateway {
			`+site.Direct.Provider("shared", shared, "models m1")+`
			model smart {
				to shared/m1
			}
			key alice {env.KEY_ALICE}
			max_body 2000
			accounts off
		}
	}
	http://127.0.0.1:PORT(site) {
		ai_gateway
	}
	http://127.0.0.1:PORT(second) {
		ai_gateway {
			`+site.Proxied.Provider("own", own, "models m2")+`
			model fast {
				to own/m2
				to shared/m1
			}
			key bob {env.KEY_BOB}
			max_body 100000
		}
	}`)
	for _, test := range []struct {
		port, key, model string
		status           int
		provider         *gatewaytest.Provider
	}{
		{"site", site.AliceKey, "m1", 200, shared},
		{"site", site.AliceKey, "smart", 200, shared},
		{"site", site.AliceKey, "m2", 404, nil},
		{"site", site.AliceKey, "fast", 404, nil},
		{"site", site.BobKey, "m1", 401, nil},
		{"second", site.AliceKey, "m1", 200, shared},
		{"second", site.AliceKey, "smart", 200, shared},
		{"second", site.BobKey, "m2", 200, own},
		{"second", site.BobKey, "fast", 200, own},
	} {
		before := shared.Count() + own.Count()
		count := 0
		if test.provider != nil {
			count = test.provider.Count()
		}
		assert.Equal(t, test.status, askAt(s, test.port, site.ChatPath, test.key, test.model).Status, "%+v", test)
		if test.provider == nil {
			assert.Equal(t, before, shared.Count()+own.Count())
		} else {
			assert.Equal(t, count+1, test.provider.Count())
		}
	}
	large := site.BodyFor(site.ChatPath, "m1", strings.Repeat("x", 2000), false)
	got := s.Raw(large, "POST "+site.ChatPath+" HTTP/1.1", "Authorization: Bearer "+site.AliceKey)
	assert.Equal(t, http.StatusRequestEntityTooLarge, got.Status, "an inherited limit")
}

// TestConfigurationsThatCannotWorkAreRefused ensures that each error names the mistake,
// and that the old configuration stays in effect.
func TestConfigurationsThatCannotWorkAreRefused(t *testing.T) {
	site.SetKeys(t)
	const (
		demo  = "provider demo"
		alice = "key alice {env.KEY_ALICE}"
		local = "provider local vllm"
	)
	s := site.Start(t, demo)
	for _, test := range []struct{ name, global, site, want string }{
		{"no provider", "", alice, "needs at least one provider, here or in the global option ai_gateway"},
		{"no key and no store", "", demo + "\naccounts off", "needs at least one key, here or in the global option ai_gateway, or a store: without them nobody could use it"},
		{"a store twice", "store sqlite", demo + "\nstore sqlite", "store is set in the global option ai_gateway already"},
		{"accounts twice", "accounts off", demo + "\n" + alice + "\naccounts {\n}", "accounts is set in the global option ai_gateway already"},
		{"nothing", "", "", "needs at least one provider"},
		{"only a global option that is empty", "# nothing", "", "needs at least one provider"},
		{"a provider twice", demo + "\n" + alice, demo, "provider 'demo' is defined twice"},
		{"a model twice", demo + "\n" + alice + "\nmodel m {\nto demo\n}", "model m {\nto demo\n}", "model 'm' is defined twice"},
		{"a key twice", demo + "\n" + alice, "key alice {env.KEY_BOB}", "key 'alice' is defined twice"},
		{"a key under two names", demo + "\n" + alice, "key bob {env.KEY_ALICE}", "key 'bob' has the same value as key 'alice'"},
		{"two catch-alls", "", demo + "\n" + alice + "\n" + local, "provider 'demo' without models and provider 'local' without models claim the same models with equal rank"},
		{"two catch-alls, one inherited", demo + "\n" + alice, local, "provider 'demo' without models and provider 'local' without models claim the same models with equal rank"},
		{"an unknown provider", "", demo + "\n" + alice + "\nmodel m {\nto nobody\n}", "model 'm': unknown provider 'nobody'; known are: demo"},
		{"a misspelt provider", "", demo + "\n" + alice + "\nmodel m {\nto dmo/x\n}", "model 'm': unknown provider 'dmo'; did you mean 'demo'? known are: demo"},
		{"a provider of the site in the global option", alice + "\nmodel m {\nto demo\n}", demo, "model 'm': unknown provider 'demo': no provider is defined here, at Caddyfile:5"},
		{"a required key", "", "provider openai\n" + alice, "provider 'openai': needs an api_key"},
		{"a variable that is not set", "", "provider openai {env.NO_SUCH_VARIABLE}\n" + alice, "api_key: resolving secret: {env.NO_SUCH_VARIABLE} is not set"},
		{"a client's key that is not set", "", demo + "\nkey a {env.NO_SUCH_VARIABLE}", "key a: resolving secret: {env.NO_SUCH_VARIABLE} is not set"},
		{"an address of a provider that has none", "", "provider demo {\nbase_url https://example.com\n}\n" + alice, "answers in-process: base_url, transport and the options of reverse_proxy have no effect"},
		{"an endpoint as the address", "", "provider x vllm {\nbase_url http://127.0.0.1:1/v1/chat/completions/\n}\n" + alice, "provider 'x': base_url: must end before /chat/completions, which the gateway appends"},
		{"an endpoint as the path beside addresses", "", "provider x vllm {\nbase_url /v1/messages\nto 127.0.0.1:1\n}\n" + alice, "provider 'x': base_url: must end before /messages, which the gateway appends"},
		{"no address", "", "provider x openai_compatible\n" + alice, "needs an address: base_url or to, or"},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := "http://127.0.0.1:PORT(site) {\nai_gateway {\n" + test.site + "\n}\n}\n"
			if test.global != "" {
				config = "{\nai_gateway {\n" + test.global + "\n}\n}\n" + config
			}
			assert.ErrorContains(t, s.Reload(config), test.want)
			assert.Equal(t, http.StatusOK, s.Ask(site.ChatPath, site.BodyFor(site.ChatPath, "demo", "hello", false)).Status)
		})
	}
}

// TestJSONThatCannotWorkIsRefused covers mistakes that the grammar of the Caddyfile already
// refuses.
func TestJSONThatCannotWorkIsRefused(t *testing.T) {
	site.SetKeys(t)
	c := gatewaytest.NewCaddy(t)
	const keys = `"keys":[{"source":"config","keys":[{"name":"alice","key":"{env.KEY_ALICE}"}]}]`
	for handler, want := range map[string]string{
		`"max_body":-1,"providers":[{"name":"demo"}],` + keys:                                                                               "max_body must be positive",
		`"max_event_bytes":1,"providers":[{"name":"demo"}],` + keys:                                                                         "max_event_bytes must be from 1024 (1KiB) to 1073741824 (1GiB), got 1",
		`"idle_timeout":-1,"providers":[{"name":"demo"}],` + keys:                                                                           "idle_timeout must be positive",
		`"providers":[{"name":"demo","usage_wait":-1}],` + keys:                                                                             "usage_wait must be positive",
		`"providers":[{"name":"a b"}],` + keys:                                                                                              "the name of a provider is 1 to 64 letters",
		`"providers":[{"name":"demo","formats":["xml"]}],` + keys:                                                                           "unknown format 'xml'",
		`"providers":[{"name":"demo","models":["a b"]}],` + keys:                                                                            "models: a model pattern is 1 to 256 printable characters",
		`"providers":[{"name":"demo","stream_end":"never"}],` + keys:                                                                        "stream_end must be 'done' or 'finish'",
		`"providers":[{"name":"nobody"}],` + keys:                                                                                           "no preset is named 'nobody'",
		`"providers":[{"name":"p","preset":{"preset":"vllm"},"base_url":"ftp://x"}],` + keys:                                                "base_url: must be an http or https URL",
		`"providers":[{"name":"p","preset":{"preset":"vllm"},"api_keys":["sk-literal"]}],` + keys:                                           "a literal secret is refused",
		`"providers":[{"name":"demo"}],"models":[{"name":"m","targets":[]}],` + keys:                                                        "model 'm': needs at least one target",
		`"providers":[{"name":"demo"}],"models":[{"name":"m","targets":[{"provider":"demo"},{"provider":"demo"}]}],` + keys:                 "target 'demo' is listed twice",
		`"providers":[{"name":"demo"}],"models":[{"name":"m","targets":[{"provider":"demo"}],"fallback_on":["2xx"]}],` + keys:               "fallback_on: '2xx' is not a status",
		`"providers":[{"name":"demo"}],"models":[{"name":"m","targets":[{"provider":"demo"}],"attempts":-2}],` + keys:                       "attempts must be at least 1",
		`"providers":[{"name":"demo"}],"unknown":1,` + keys:                                                                                 "unknown field",
		`"providers":[{"name":"demo"}],"keys":[{"source":"config","keys":[{"name":"a","key":"sk-literal-0123456789"}]}]`:                    "key number 1: a key is {env.NAME}",
		`"providers":[{"name":"demo"}],"keys":[{"source":"nowhere"}]`:                                                                       "loading key sources",
		`"providers":[{"name":"demo"}],"keys":[{"source":"config","keys":[{"name":"a","key":"{env.KEY_ALICE}"}]},` + keys[len(`"keys":[`):]: "key 'alice' has the same value as key 'a'",
	} {
		err := c.Reload(fmt.Sprintf(`{"apps":{"http":{"servers":{"s":{"listen":["127.0.0.1:PORT(site)"],"routes":[{"handle":[{"handler":"ai_gateway",%s}]}]}}}}}`, handler))
		if assert.Error(t, err, handler) {
			assert.Contains(t, err.Error(), want)
			assert.NotContains(t, err.Error(), "sk-literal")
		}
	}
}

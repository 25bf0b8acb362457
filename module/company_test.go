package module_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// company is the site of the page about a company, with providers of the test.
type company struct {
	*site.Site
	anthropic, openai, own *gatewaytest.Provider
}

const adaKey = "sk-of-ada-0123456789abcdef"

// startCompany runs the configuration of the page. Only addresses and the two databases
// differ.
func startCompany(t *testing.T) company {
	t.Helper()
	page, err := os.ReadFile("../caddyfile/company.md")
	require.NoError(t, err)
	fences := fence.FindAllStringSubmatch(string(page), -1)
	require.Len(t, fences, 2)
	config, keysFile := fences[0][2], fences[1][2]

	keysFile = regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(keysFile, "sha256:"+gatewaytest.SHA256([]byte(adaKey)))
	keys, _ := site.KeysFile(t, keysFile)
	config = regexp.MustCompile(`(?s)\t\tcounters redis.*?\n\t\t\}\n`).ReplaceAllString(config, "")
	t.Setenv("OTEL_TRACES_EXPORTER", "none")

	c := company{anthropic: gatewaytest.NewProvider(t), openai: gatewaytest.NewProvider(t), own: gatewaytest.NewProvider(t)}
	c.Site = site.StartCaddyfile(t, strings.NewReplacer(
		"ai.example.com {", "http://127.0.0.1:PORT(site) {",
		"http://localhost:9180 {", "http://127.0.0.1:PORT(metrics) {",
		"shutdown_delay 10s", "",
		"store postgres {file./run/secrets/postgres-dsn}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"),
		"/run/secrets", secretFiles(t),
		"/etc/caddy/keys", keys,
		"from 10.0.0.0/8", "from 127.0.0.0/8",
		"models claude-*", "models claude-*\nbase_url http://"+c.anthropic.Address(),
		"models gpt-*", "models gpt-*\nbase_url http://"+c.openai.Address()+"/v1",
		"to 10.0.0.11:8000 10.0.0.12:8000", "to "+c.own.Address(),
	).Replace(config))
	require.Eventually(t, func() bool {
		return c.Call(http.MethodGet, c.URL("site", "/readyz"), "").Status == http.StatusOK
	}, site.Patience, site.PollEvery)
	return c
}

// ask sends a chat request of a session.
func (c company) ask(key, model, session string) site.Reply {
	body := fmt.Sprintf(`{"model":%q,"user":%q,"max_tokens":20,"messages":[{"role":"user","content":"hello"}]}`, model, session)
	return c.Call(http.MethodPost, c.URL("site", site.ChatPath), body, "Authorization", "Bearer "+key)
}

// The configuration of the page does what the page promises.
func TestTheCompanyOfThePagesWorks(t *testing.T) {
	c := startCompany(t)

	assert.Equal(t, http.StatusOK, c.ask(adaKey, "assistant", "s").Status)
	assert.Equal(t, 1, c.anthropic.Count())
	c.anthropic.Script(gatewaytest.Status(http.StatusServiceUnavailable))
	assert.Equal(t, http.StatusOK, c.ask(adaKey, "assistant", "s").Status)
	assert.Equal(t, 1, c.openai.Count(), "the fallback")

	const build, sessions = "sk-of-build-key-0123456789abcdef", 400
	assert.Equal(t, http.StatusForbidden, c.ask(build, "assistant", "s").Status)
	for n := range sessions {
		require.Equal(t, http.StatusOK, c.ask(build, "coder", fmt.Sprint(n)).Status)
	}
	fresh := 0
	for _, request := range c.own.Requests() {
		if strings.Contains(string(request.Body), "qwen3-coder-next") {
			fresh++
		}
	}
	assert.InDelta(t, sessions/20, fresh, 15, "the canary")

	preflight := c.Call(http.MethodOptions, c.URL("site", site.ChatPath), "", "Origin", "https://chat.example.com", "Access-Control-Request-Method", "POST")
	assert.Equal(t, "https://chat.example.com", preflight.Header.Get("Access-Control-Allow-Origin"))

	metrics := c.Call(http.MethodGet, c.URL("metrics", "/metrics"), "")
	assert.Contains(t, metrics.Body, "caddy_ai_gateway_attempts_total")
}

// Keys that users make themselves have the limits that the page promises.
func TestEmployeesOfTheCompanyHaveTheirLimits(t *testing.T) {
	c := startCompany(t)
	c.AddUser("grace")
	login := c.Call(http.MethodPost, c.URL("site", "/api/user/login"), fmt.Sprintf(`{"username":"grace","password":%q}`, site.Password))
	require.Equal(t, http.StatusOK, login.Status, login.Body)
	var session struct {
		Data struct {
			Token string `json:"access_token"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(login.Body), &session))
	made := c.Call(http.MethodPost, c.URL("site", "/api/token/"), `{"name":"laptop"}`, "Authorization", "Bearer "+session.Data.Token)
	require.Equal(t, http.StatusOK, made.Status, made.Body)

	for key, limits := range map[string][]string{
		"1":     {"employee", "company"},
		"ada":   {"researcher", "research", "company"},
		"build": {"build", "company"},
	} {
		var answer struct {
			Key struct {
				Limits []struct{ Name string }
			}
		}
		explained := c.Call(http.MethodGet, c.AdminURL("/ai_gateway/explain?format=chat&model=assistant&key="+key), "")
		require.NoError(t, json.Unmarshal([]byte(explained.Body), &answer), explained.Body)
		var names []string
		for _, l := range answer.Key.Limits {
			names = append(names, l.Name)
		}
		assert.Equal(t, limits, names, key)
	}
}

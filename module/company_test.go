package module_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// company is the site of the page about a company, with providers of the test.
type company struct {
	*site.Site
	anthropic, openai, own *gatewaytest.Provider
	employees, ci          *issuer
	alerts                 chan alert
}

// alert is a message of the gateway.
type alert struct {
	Event, Text string
	Data        map[string]any
}

const adaKey = "sk-of-ada-0123456789abcdef"

// startCompany runs the configuration of the page. Only addresses and the two databases
// differ.
func startCompany(t *testing.T) company {
	t.Helper()
	page, err := os.ReadFile("../caddyfile/docs/company.md")
	require.NoError(t, err)
	fences := fence.FindAllStringSubmatch(string(page), -1)
	require.Len(t, fences, 2)
	config, keysFile := fences[0][2], fences[1][2]

	keysFile = regexp.MustCompile(`sha256:[0-9a-f]{64}`).ReplaceAllString(keysFile, "sha256:"+gatewaytest.SHA256([]byte(adaKey)))
	keys, _ := site.KeysFile(t, keysFile)
	config = regexp.MustCompile(`(?s)\t\tcounters redis.*?\n\t\t\}\n`).ReplaceAllString(config, "")
	t.Setenv("OTEL_TRACES_EXPORTER", "none")

	c := company{
		anthropic: gatewaytest.NewProvider(t), openai: gatewaytest.NewProvider(t), own: gatewaytest.NewProvider(t),
		employees: newIssuer(t), ci: newIssuer(t), alerts: make(chan alert, 100),
	}
	secrets := secretFiles(t)
	c.Site = site.StartCaddyfile(t, strings.NewReplacer(
		"ai.example.com {", "http://127.0.0.1:PORT(site) {",
		"http://localhost:9180 {", "http://127.0.0.1:PORT(metrics) {",
		"shutdown_delay 10s", "",
		"store postgres {file./run/secrets/postgres-dsn}", "store sqlite "+filepath.Join(t.TempDir(), "gateway.db"),
		"/run/secrets", secrets,
		"https://login.example.com/realms/company", c.employees.URL,
		"https://token.actions.githubusercontent.com", c.ci.URL,
		"https://alerts.example.com", c.receiveAlerts(t),
		"grace_period 30s", "storage file_system "+filepath.Join(t.TempDir(), "storage"),
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

// receiveAlerts receives the alerts of the company, and returns the address.
func (c company) receiveAlerts(t *testing.T) string {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.NotContains(t, string(body), "sk-")
		assert.True(t, strings.HasPrefix(r.Header.Get("Webhook-Signature"), "v1,"), "it is signed")
		var a alert
		assert.NoError(t, json.Unmarshal(body, &a), string(body))
		c.alerts <- a
	}))
	t.Cleanup(receiver.Close)
	return receiver.URL
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
		explained := c.Call(http.MethodGet, c.AdminURL("/api/v1/explain?format=chat&model=assistant&key="+key), "")
		require.NoError(t, json.Unmarshal([]byte(explained.Body), &answer), explained.Body)
		var names []string
		for _, l := range answer.Key.Limits {
			names = append(names, l.Name)
		}
		assert.Equal(t, limits, names, key)
	}
}

// alerted returns the next alert.
func (c company) alerted() alert {
	c.T.Helper()
	select {
	case a := <-c.alerts:
		return a
	case <-time.After(site.Patience):
		require.FailNow(c.T, "there is no alert")
		return alert{}
	}
}

// asUser sends a request with a session, and returns the answer.
func (c company) asUser(session, method, path, body string) site.Reply {
	return c.Call(method, c.URL("site", path), body, "Authorization", "Bearer "+session)
}

// A person of the company signs in, makes a key, spends money until there is an alert, and all
// of it is in the audit log.
func TestTheCompanyFromSignInToAnAlert(t *testing.T) {
	c := startCompany(t)
	grace := map[string]any{"sub": "1", "preferred_username": "grace", "groups": []string{"staff"}}
	root := map[string]any{"sub": "2", "preferred_username": "ruth", "groups": []string{"staff", "ai-root"}}
	assert.Contains(t, c.signIn(map[string]any{"sub": "3", "preferred_username": "guest", "groups": []string{"guests"}}), "refused")

	session := c.signIn(grace)
	made := c.asUser(session, http.MethodPost, "/api/token/", `{"name":"laptop"}`)
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	var answer struct{ Data struct{ Key, Group string } }
	require.NoError(t, json.Unmarshal([]byte(made.Body), &answer))
	assert.Equal(t, "employee", answer.Data.Group)

	blocked := c.Call(http.MethodPost, c.URL("site", site.ChatPath), `{"model":"coder","messages":[{"role":"user","content":"4111 1111 1111 1111"}]}`, "Authorization", "Bearer "+answer.Data.Key)
	assert.Equal(t, http.StatusBadRequest, blocked.Status, blocked.Body)
	assert.Contains(t, blocked.Body, "'numbers'")

	c.anthropic.Always(gatewaytest.Body(http.StatusOK, "application/json", []byte(
		`{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10000000,"output_tokens":5000000}}`)))
	require.Equal(t, http.StatusOK, c.ask(answer.Data.Key, "assistant", "s").Status)
	assert.Equal(t, http.StatusTooManyRequests, c.ask(answer.Data.Key, "assistant", "s").Status, "70 of 50 USD are spent")
	got := c.alerted()
	assert.Equal(t, "ai_gateway_budget_threshold", got.Event, got.Text)
	assert.Equal(t, []any{"employee", "grace", 100.0}, []any{got.Data["limit"], got.Data["subject"], got.Data["percent"]}, got.Text)

	for name, job := range map[string]struct {
		audience, repository, model string
		status                      int
	}{
		"a job of the company":             {"https://ai.example.com", "example/web", "coder", http.StatusOK},
		"a model that jobs may not use":    {"https://ai.example.com", "example/web", "assistant", http.StatusForbidden},
		"a job of others":                  {"https://ai.example.com", "mallory/web", "coder", http.StatusForbidden},
		"a token for another service":      {"https://pypi.org", "example/web", "coder", http.StatusUnauthorized},
		"a repository with a similar name": {"https://ai.example.com", "example-x/web", "coder", http.StatusForbidden},
	} {
		token := c.ci.token(job.audience, map[string]any{"sub": "repo:" + job.repository, "repository": job.repository})
		assert.Equal(t, job.status, c.ask(token, job.model, "s").Status, name)
	}
	const build = "sk-of-build-key-0123456789abcdef"
	require.Equal(t, http.StatusOK, c.ask(build, "coder", "s").Status)
	require.Eventually(t, func() bool {
		return strings.Contains(c.Call(http.MethodGet, c.AdminURL("/api/v1/records?tag=team=platform"), "").Body, `"key":"build"`)
	}, site.Patience, site.PollEvery)
	assert.Equal(t, http.StatusUnauthorized, c.ask(c.employees.token("https://ai.example.com", map[string]any{"repository": "example/web", "sub": "x"}), "coder", "s").Status, "another issuer")

	admin := c.signIn(root)
	require.Equal(t, http.StatusOK, c.asUser(admin, http.MethodPost, "/api/v1/teams", `{"name":"apps","models":["coder"],"budget":"300/month"}`).Status)
	require.Equal(t, http.StatusOK, c.asUser(admin, http.MethodPut, "/api/v1/teams/apps/members/grace", `{"admin":true}`).Status)
	made = c.asUser(session, http.MethodPost, "/api/token/", `{"name":"app","group":"apps"}`)
	require.Equal(t, http.StatusOK, made.Status, made.Body)
	key := answer.Data.Key
	require.NoError(t, json.Unmarshal([]byte(made.Body), &answer))
	assert.Equal(t, http.StatusOK, c.ask(answer.Data.Key, "coder", "s").Status)
	assert.Equal(t, http.StatusForbidden, c.ask(answer.Data.Key, "assistant", "s").Status, "no model of the team")
	members := c.asUser(session, http.MethodGet, "/api/v1/teams/apps/members", "")
	assert.Equal(t, http.StatusOK, members.Status, members.Body)

	assert.Equal(t, http.StatusForbidden, c.asUser(session, http.MethodGet, "/api/v1/audit", "").Status)
	rows := c.asUser(admin, http.MethodGet, "/api/v1/audit", "").Body
	for _, row := range []string{`"action":"config.load"`, `"field":"key build"`, `"actor":"user/grace","role":"user"`, `"action":"key.create"`, `"object":"team/apps"`, `"action":"login.ok","object":"user/ruth"`} {
		assert.Contains(t, rows, row)
	}
	assert.NotContains(t, rows, key)
	assert.NotContains(t, rows, answer.Data.Key)
}

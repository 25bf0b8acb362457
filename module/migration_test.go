package module_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/storetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/litellm"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Everything that an import of LiteLLM can write is known to the grammar of the Caddyfile.
func TestWhatAnImportWritesAdapts(t *testing.T) {
	g, _, err := litellm.Read([]byte(`
model_list:
  - {model_name: a, litellm_params: {model: azure/d, api_base: "https://eu.openai.azure.com", weight: 3}, model_info: {base_model: azure/gpt-4o}}
  - {model_name: a, litellm_params: {model: bedrock/eu.anthropic.claude-x-v1:0, aws_region_name: eu-central-1, aws_profile_name: p, weight: 1}}
  - {model_name: b, litellm_params: {model: vertex_ai/claude-x, vertex_project: p, vertex_location: global}}
  - {model_name: c, litellm_params: {model: gemini/gemini-2.5-pro, extra_headers: {X-Team: a b}, timeout: 2.5, stream_timeout: 60, max_parallel_requests: 3}}
  - {model_name: d, litellm_params: {model: text-completion-openai/x, organization: o, input_cost_per_token: 1e-7, output_cost_per_token: 4e-6, input_cost_per_token_above_200k_tokens: 2e-7, output_cost_per_token_above_200k_tokens: 8e-6}}
  - {model_name: e, litellm_params: {model: fireworks_ai/accounts/x}}
  - {model_name: "claude-*", litellm_params: {model: "anthropic/claude-*"}}
  - {model_name: left out, litellm_params: {model: openai/x}}
router_settings: {num_retries: 0, cooldown_time: 5, redis_host: 127.0.0.1, redis_password: os.environ/REDIS_PASSWORD, model_group_alias: {f: a}}
litellm_settings: {request_timeout: 600, max_budget: 100, budget_duration: 30d, max_internal_user_budget: 5, default_fallbacks: [e]}
general_settings: {master_key: os.environ/MASTER, max_request_size_mb: 20, global_max_parallel_requests: 400}
`), &litellm.Tables{
		Keys:    []json.RawMessage{json.RawMessage(`{"token":"sk-a","key_alias":"a","user_id":"u","max_budget":5,"soft_budget":4,"rpm_limit":1,"tpm_limit":2,"max_parallel_requests":3}`)},
		Users:   []json.RawMessage{json.RawMessage(`{"user_id":"u","max_budget":9,"budget_duration":"7d"}`)},
		Budgets: []json.RawMessage{},
	}, "ai.example.com")
	require.NoError(t, err)
	_, err = gatewaytest.Adapt(g.Caddyfile())
	require.NoError(t, err, g.Caddyfile())
	assert.Len(t, g.Models, 7)
	assert.Len(t, g.Limits, 5)
}

// move is a gateway that is imported.
type move struct {
	*site.Site
	dir      string
	provider *gatewaytest.Provider
}

func newMove(t *testing.T) move {
	t.Helper()
	return move{&site.Site{Caddy: gatewaytest.NewCaddy(t), T: t}, t.TempDir(), gatewaytest.NewProvider(t)}
}

// path returns the path of a file of the test.
func (m move) path(name string) string { return filepath.Join(m.dir, name) }

// write writes a file.
func (m move) write(name, text string) string {
	m.T.Helper()
	require.NoError(m.T, os.WriteFile(m.path(name), []byte(text), 0o600))
	return m.path(name)
}

// run runs a command of the gateway, which leaves something out, and returns what it prints.
func (m move) run(args ...string) (out, report string) {
	m.T.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"ai-gateway", "import"}, args...)...)
	var messages strings.Builder
	cmd.Stderr = &messages
	printed, err := cmd.Output()
	var exit *exec.ExitError
	require.True(m.T, errors.As(err, &exit) && exit.ExitCode() == 3, "%v: %s", err, messages.String())
	return string(printed), messages.String()
}

// start runs the gateway with an imported Caddyfile.
func (m move) start(caddyfile string) {
	m.T.Helper()
	require.Contains(m.T, caddyfile, "\nai.example.com {\n")
	require.NoError(m.T, m.Reload(strings.Replace(caddyfile, "\nai.example.com {\n", "\nhttp://127.0.0.1:PORT(site) {\n", 1)))
}

// ask sends a chat request.
func (m move) ask(key, model string) site.Reply {
	return m.Call(http.MethodPost, m.URL("site", site.ChatPath), fmt.Sprintf(`{"model":%q,"max_tokens":20,"messages":[{"role":"user","content":"hello"}]}`, model), "Authorization", "Bearer "+key)
}

// used returns what a limit has counted of its budget, in dollars.
func (m move) used(limit string) float64 {
	m.T.Helper()
	answer := m.Call(http.MethodGet, m.AdminURL("/api/v1/limits"), "")
	var page struct {
		Items []struct {
			Limit, Rule string
			Used        float64
		}
	}
	require.NoError(m.T, json.Unmarshal([]byte(answer.Body), &page), answer.Body)
	for _, state := range page.Items {
		if state.Limit == limit && state.Rule == "budget" {
			return state.Used
		}
	}
	require.Fail(m.T, "no such limit", "%s: %s", limit, answer.Body)
	return 0
}

// example returns a dump of testdata with replacements, in pairs.
func (m move) example(name string, replaced ...string) string {
	m.T.Helper()
	text, err := os.ReadFile("../testdata/migration/" + name)
	require.NoError(m.T, err)
	for i := 0; i < len(replaced); i += 2 {
		require.Contains(m.T, string(text), replaced[i])
	}
	return strings.NewReplacer(replaced...).Replace(string(text))
}

// database fills a new database of PostgreSQL, and returns its DSN.
func (m move) database(cluster *storetest.Cluster, text string) string {
	m.T.Helper()
	dsn := cluster.NewDatabase(m.T)
	conn, err := pgx.Connect(m.T.Context(), dsn)
	require.NoError(m.T, err)
	defer conn.Close(m.T.Context())
	_, err = conn.PgConn().Exec(m.T.Context(), text).ReadAll()
	require.NoError(m.T, err)
	return dsn
}

// aliceHash is a bcrypt hash of site.Password, as new-api has it.
const aliceHash = "$2a$10$hHgQ5.55puB4BTj/K4QWaeHhQR9qifYvau6wHjx3VMlWEgXygQIdS"

// The database of new-api, in each form in which it can be, becomes the same gateway, in which
// the keys and the passwords of before work.
func TestZ033KeysAndPasswordsOfNewAPIWorkAfterTheMove(t *testing.T) {
	m := newMove(t)
	base := "http://" + m.provider.Address()
	text := m.example("new-api.sql",
		"3, '', '', 'gpt-4o,gpt-4o-mini'", "3, '"+base+"', '', 'gpt-4o,gpt-4o-mini'",
		"0, '', '', 'claude-sonnet-4-5,claude-opus-5'", "0, '"+base+"', '', 'claude-sonnet-4-5,claude-opus-5'",
		"(2, 'Alice', '$2a$10$EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMP'", "(2, 'Alice', '"+aliceHash+"'", "(3, 'alice'", "(3, 'alina'")

	db, err := sql.Open("sqlite", m.path("new-api.db"))
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), text)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	sources := map[string]string{
		"sqlite": m.path("new-api.db"),
		"mysql":  m.write("mysql.sql", "-- MySQL dump 10.13\n"+strings.NewReplacer(`"key"`, "`key`", `"group"`, "`group`", `"default":1`, `\"default\":1`).Replace(text)),
	}
	if cluster, ok := storetest.Postgres(t); ok {
		dsn := m.database(cluster, text)
		t.Setenv("SQL_DSN", dsn)
		sources["postgres"], sources["pg_dump"] = "{env.SQL_DSN}", m.write("pg_dump.sql", cluster.Dump(t, dsn))
	}
	var caddyfile, file, first string
	for name, source := range sources {
		keys, env := m.path("keys"), m.path("env")
		out, report := m.run("new-api", source, "--group", "vip", "--keys", keys, "--env-file", env)
		written, err := os.ReadFile(keys)
		require.NoError(t, err)
		secrets, err := os.ReadFile(env)
		require.NoError(t, err)
		if first == "" {
			caddyfile, file, first = out, string(written), name
		}
		assert.Equal(t, caddyfile, out, "%s and %s", first, name)
		assert.Equal(t, file, string(written), "%s and %s", first, name)
		for line := range strings.Lines(string(secrets)) {
			variable, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			t.Setenv(variable, value)
			assert.NotContains(t, out+report+string(written), value)
		}
		require.NoError(t, os.Remove(keys))
		require.NoError(t, os.Remove(env))
	}
	m.write("keys", file)
	config := m.write("Caddyfile", strings.Replace(caddyfile, "store sqlite", "store sqlite "+m.path("gateway.db"), 1))
	out, _ := m.run("new-api", m.path("new-api.db"), "--group", "vip", "--accounts", "--config", config)
	assert.Contains(t, out, "5 users new, 0 spent amounts.\n")
	out, report := m.run("new-api", m.path("new-api.db"), "--group", "vip", "--accounts", "--config", config)
	assert.Contains(t, out, "0 users new")
	assert.Contains(t, report, "alice exists, and stays as it is")
	text2, err := os.ReadFile(config)
	require.NoError(t, err)
	m.start(string(text2))

	const laptop, poor = "sk-Examplealice000000000000000000000000000000000000", "sk-Examplealicepoor00000000000000000000000000000001"
	assert.Equal(t, http.StatusOK, m.ask(laptop, "gpt-4o").Status)
	assert.Equal(t, http.StatusOK, m.ask(laptop, "claude-sonnet-4-5").Status)
	assert.Equal(t, http.StatusOK, m.ask(poor, "gpt-4o").Status)
	assert.Equal(t, http.StatusUnauthorized, m.ask(strings.TrimPrefix(laptop, "sk-"), "gpt-4o").Status, "Z033: the bare key")
	requests := m.provider.Requests()
	require.Len(t, requests, 3)
	assert.Equal(t, "Bearer sk-EXAMPLE-openai-1", requests[0].Header.Get("Authorization"))
	assert.Contains(t, string(requests[0].Body), "gpt-4o-2024-11-20")
	assert.Equal(t, "sk-ant-EXAMPLE", requests[1].Header.Get("X-Api-Key"))

	login := func(password string) site.Reply {
		return m.Call(http.MethodPost, m.URL("site", "/api/user/login"), fmt.Sprintf(`{"username":"Alice","password":%q}`, password))
	}
	assert.Equal(t, http.StatusUnauthorized, login("another password").Status)
	for range 2 {
		assert.Equal(t, http.StatusOK, login(site.Password).Status, "first with the hash of before, and then with a new one")
	}
}

// The configuration and the database of LiteLLM become a gateway in which the keys of before
// work, and budgets go on.
func TestZ015Z016KeysAndBudgetsOfLiteLLMGoOnAfterTheMove(t *testing.T) {
	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	m := newMove(t)
	later := time.Now().UTC().AddDate(0, 1, 0).Format(time.DateTime)
	// On the first days of a month, the month of a key is a part of the week of a member, who can have spent
	// no less in it: with 3.50, the test failed on these days.
	dsn := m.database(cluster, m.example("litellm.sql", "3.5, 'member-budget'", "4.75, 'member-budget'",
		"2026-12-01 00:00:00", later, "2026-11-30 00:00:00", later))
	t.Setenv("DATABASE_URL", dsn)
	source := m.write("config.yaml", `
model_list:
  - {model_name: gpt-4o, litellm_params: {model: openai/gpt-4o, api_base: "http://`+m.provider.Address()+`/v1", api_key: none}, model_info: {input_cost_per_token: 1e-6, output_cost_per_token: 4e-6}}
  - {model_name: gpt-4o-mini, litellm_params: {model: openai/gpt-4o-mini, api_base: "http://`+m.provider.Address()+`/v1", api_key: none}, model_info: {access_groups: [cheap], input_cost_per_token: 1e-7, output_cost_per_token: 4e-7}}
  - {model_name: claude-sonnet, litellm_params: {model: anthropic/claude-sonnet-4-5, api_base: "http://`+m.provider.Address()+`", api_key: os.environ/CLAUDE_KEY}}
general_settings: {master_key: os.environ/LITELLM_MASTER_KEY}
`)
	t.Setenv("CLAUDE_KEY", "sk-upstream-0123456789abcdef")
	t.Setenv("LITELLM_MASTER_KEY", "sk-EXAMPLEmaster0000000011")
	live, _ := m.run("litellm", source, "--database", "{env.DATABASE_URL}", "--keys", m.path("keys"))
	file, err := os.ReadFile(m.path("keys"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(m.path("keys")))
	dumped, _ := m.run("litellm", source, "--database", m.write("dump.sql", cluster.Dump(t, dsn)), "--keys", m.path("keys"))
	again, err := os.ReadFile(m.path("keys"))
	require.NoError(t, err)
	assert.Equal(t, live, dumped, "a dump is the same as the server")
	assert.Equal(t, string(file), string(again))

	caddyfile := strings.Replace(live, "store sqlite", "store sqlite "+m.path("gateway.db"), 1)
	config := m.write("Caddyfile", caddyfile)
	accounts := []string{"litellm", source, "--database", "{env.DATABASE_URL}", "--accounts", "--config", config, "--keys", m.path("keys")}
	out, _ := m.run(accounts...)
	assert.Contains(t, out, "2 users new")
	out, _ = m.run(accounts...)
	assert.Contains(t, out, "0 users new, 0 spent amounts.", "Z016: a second import adds nothing")
	m.start(caddyfile)

	const alice = "sk-EXAMPLEalice00000000001"
	assert.Equal(t, http.StatusOK, m.ask(alice, "gpt-4o-mini").Status, "Z002")
	assert.Equal(t, http.StatusOK, m.ask(alice, "claude-sonnet").Status)
	assert.Equal(t, http.StatusForbidden, m.ask(alice, "gpt-4o").Status, "Z005: not a model of the key")
	assert.Equal(t, http.StatusOK, m.ask("sk-EXAMPLEcarol0000000003", "gpt-4o").Status)
	assert.Equal(t, http.StatusOK, m.ask("sk-EXAMPLEmaster0000000011", "gpt-4o").Status)
	for _, key := range []string{"sk-EXAMPLEbob000000000002", "sk-EXAMPLEold0000000000005", "sk-EXAMPLEblocked000000006", "sk-EXAMPLEgrace000000000007", "sk-EXAMPLEbeta0000000000009", "sk-EXAMPLEui00000000000010"} {
		assert.Equal(t, http.StatusUnauthorized, m.ask(key, "gpt-4o").Status, key)
	}
	assert.InDelta(t, 4.75e6, m.used("key-alice-laptop"), 1e5, "Z015: what was spent counts")
	assert.InDelta(t, 123.456789e6, m.used("team-Research-Dev-2"), 1e5, "Z016: what its keys had spent counts once")
}

// A key had spent 300 in all time, and its team 123 in this month: after the import, the team had
// spent 300 in this month.
func TestWhatAKeyHasSpentInAllTimeIsNotInTheMonthOfItsTeam(t *testing.T) {
	cluster, ok := storetest.Postgres(t)
	if !ok {
		return
	}
	m := newMove(t)
	later := time.Now().UTC().AddDate(0, 1, 0).Format(time.DateTime)
	dsn := m.database(cluster, m.example("litellm.sql", "60, 4, 20, '30d', '2026-12-01 00:00:00'", "60, 4, 500, NULL, NULL", "'alice laptop', 4.75", "'alice laptop', 300",
		"2026-12-01 00:00:00", later, "2026-11-30 00:00:00", later))
	t.Setenv("LITELLM_MASTER_KEY", "sk-EXAMPLEmaster0000000011")
	source := m.write("config.yaml", `
model_list:
  - {model_name: gpt-4o-mini, litellm_params: {model: openai/gpt-4o-mini, api_base: "http://`+m.provider.Address()+`/v1", api_key: none}, model_info: {input_cost_per_token: 1e-7, output_cost_per_token: 4e-7}}
general_settings: {master_key: os.environ/LITELLM_MASTER_KEY}
`)
	dump := m.write("dump.sql", cluster.Dump(t, dsn))
	text, _ := m.run("litellm", source, "--database", dump, "--keys", m.path("keys"))
	text = strings.Replace(text, "store sqlite", "store sqlite "+m.path("gateway.db"), 1)
	out, _ := m.run("litellm", source, "--database", dump, "--accounts", "--config", m.write("Caddyfile", text))
	assert.Contains(t, out, "2 users new")
	m.start(text)
	assert.InDelta(t, 300e6, m.used("key-alice-laptop"), 1e5)
	assert.InDelta(t, 123.456789e6, m.used("team-Research-Dev-2"), 1e5)
}

// The example of a company has every trap, a secret in clear text among them.
func TestTheCompanyOfLiteLLMComesOver(t *testing.T) {
	m := newMove(t)
	t.Setenv("LITELLM_MASTER_KEY", "sk-EXAMPLEmaster0000000011")
	source := []string{"litellm", "../testdata/migration/litellm-company.yaml", "--database", "../testdata/migration/litellm.sql", "--keys", m.path("keys")}
	table, _ := m.run(append(source, "--dry-run")...)
	assert.NoFileExists(t, m.path("keys"))
	out, report := m.run(source...)
	file, err := os.ReadFile(m.path("keys"))
	require.NoError(t, err)
	assert.NotContains(t, table+out+report+string(file), "sk-EXAMPLE")
	assert.Regexp(t, `(?m)^comes over .* 10 keys$`, table)
	assert.Regexp(t, `(?m)^PROTECTION LOST `, table)
	assert.Contains(t, string(file), "key leaver-2 sha256:")
}

package module_test

import (
	"database/sql"
	"encoding/pem"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"

	// The pages use their directive and their option.
	_ "github.com/caddyserver/caddy/v2/modules/caddyevents/eventsconfig"
	_ "github.com/caddyserver/caddy/v2/modules/metrics"
)

var fence = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// userPages returns the documents that users read, as paths in the repository.
// xcaddy.md is not among them: its Caddyfile is for a build with more modules.
func userPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../caddyfile/docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	return append(pages, "../README.md")
}

// blocks returns the fenced blocks of all user pages in the given language, ""
// being that of Caddyfiles.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	var found []string
	for _, page := range userPages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
			if m[1] == language {
				found = append(found, m[2])
			}
		}
	}
	require.NotEmpty(t, found)
	return found
}

// secretFiles writes a file for each secret of the pages, and returns their folder.
func secretFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, text := range blocks(t, "") {
		for _, m := range regexp.MustCompile(`/run/(?:secrets/|credentials/caddy.service/secrets_)([\w-]+)`).FindAllStringSubmatch(text, -1) {
			value := "sk-of-" + m[1] + "-0123456789abcdef"
			if m[1] == "postgres-dsn" {
				value = "postgres://gateway@127.0.0.1:9/gateway"
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, m[1]), []byte(value+"\n"), 0o600))
		}
	}
	return dir
}

// Every Caddyfile of the pages is formatted as `caddy fmt` would, and loads.
func TestCaddyfilesOfPagesLoad(t *testing.T) {
	secrets := secretFiles(t)
	t.Setenv("ANTHROPIC_API_KEY", "sk-upstream-0123456789abcdef")
	t.Setenv("DEEPSEEK_API_KEY", "sk-upstream-0123456789abcdef")
	t.Setenv("AZURE_API_KEY", "upstream-0123456789abcdef")
	t.Setenv("GEMINI_API_KEY", "upstream-0123456789abcdef")
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "upstream-0123456789abcdef")
	t.Setenv("AZURE_CLIENT_SECRET", "upstream-0123456789abcdef")
	t.Setenv("GATEWAY_KEY", "sk-gateway-0123456789abcdef")
	t.Setenv("UPSTREAM_KEY", "sk-upstream-0123456789abcdef")
	t.Setenv("OIDC_SECRET", "secret-of-the-client-0123456789")
	t.Setenv("SECOND_API_KEY", "sk-upstream-9876543210fedcba")
	t.Setenv("ADA_KEY", "sk-of-ada-0123456789abcdef")
	t.Setenv("GRACE_KEY", "sk-of-grace-0123456789abcdef")
	t.Setenv("POSTGRES_DSN", "postgres://gateway@127.0.0.1:9/gateway")
	keys, _ := site.KeysFile(t, "# nobody yet")
	t.Setenv("SLACK_WEBHOOK", "https://hooks.example.com/services/secret")
	t.Setenv("OTEL_TRACES_EXPORTER", "none")
	catalog := filepath.Join(t.TempDir(), "catalog.csv")
	require.NoError(t, os.WriteFile(catalog, []byte(blocks(t, "csv")[0]), 0o600))
	certificate := filepath.Join(t.TempDir(), "llama.pem")
	block := pem.Block{Type: "CERTIFICATE", Bytes: gatewaytest.NewTLSProvider(t).Certificate()}
	require.NoError(t, os.WriteFile(certificate, pem.EncodeToMemory(&block), 0o600))
	settings := filepath.Join(t.TempDir(), "claude")
	for _, suffix := range []string{".json", "-research.json"} {
		require.NoError(t, os.WriteFile(settings+suffix, []byte("{}"), 0o600))
	}
	for _, text := range blocks(t, "") {
		t.Run(strings.Fields(text)[0], func(t *testing.T) {
			// Health checks of the addresses of pages must not leave the machine: if something
			// answers there, its connections stay for minutes.
			loadFormatted(t, text, "10.0.0.", "127.0.0.", "/run/secrets", secrets, "/run/credentials/caddy.service/secrets_", secrets+"/", "/etc/caddy/keys", keys, "/etc/caddy/catalog.csv", catalog, "/etc/caddy/claude", settings, "/etc/ssl/llama.pem", certificate)
		})
	}
}

// The Caddyfiles of the packages, of Compose and of Kubernetes load.
func TestCaddyfilesOfDeploymentsLoad(t *testing.T) {
	t.Setenv("GATEWAY_KEY", "sk-gateway-0123456789abcdef")
	t.Setenv("POSTGRES_DSN", "postgres://gateway@127.0.0.1:9/gateway")
	secrets := t.TempDir()
	for name, value := range map[string]string{
		"postgres-dsn": "postgres://gateway@127.0.0.1:9/gateway", "seal-key": strings.Repeat("0123456789abcdef", 4), "anthropic": "sk-upstream-0123456789abcdef",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(secrets, name), []byte(value), 0o600))
	}
	files, err := filepath.Glob("../caddyfile/deploy/*/Caddyfile")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			loadFormatted(t, string(text), "/run/secrets/gateway", secrets)
		})
	}
}

// loadFormatted fails the test if a Caddyfile is not formatted as `caddy fmt` would, or does
// not load after the replacement of texts, in pairs.
func loadFormatted(t *testing.T, text string, replaced ...string) {
	t.Helper()
	assert.Equal(t, string(caddyfile.Format([]byte(text))), text)
	raw, err := gatewaytest.Adapt(strings.NewReplacer(replaced...).Replace(text))
	require.NoError(t, err)
	var config caddy.Config
	require.NoError(t, caddy.StrictUnmarshalJSON(raw, &config))
	config.StorageRaw = []byte(`{"module":"file_system","root":"` + t.TempDir() + `"}`)
	assert.NoError(t, caddy.Validate(&config))
}

// Every curl line of the pages works when it is pasted.
func TestCurlLinesOfPagesAnswer(t *testing.T) {
	const key = "sk-gateway-0123456789abcdef"
	t.Setenv("GATEWAY_KEY", key)
	c := gatewaytest.StartCaddy(t, `
		http://:PORT(site) {
			ai_gateway {
				provider demo {
					pace off
				}
				key readme {env.GATEWAY_KEY}
			}
		}`)
	lines := 0
	for _, block := range blocks(t, "sh") {
		block = strings.TrimPrefix(block, "export GATEWAY_KEY=sk-...   # the printed one\n\n")
		if !strings.HasPrefix(block, "curl ") {
			continue
		}
		lines++
		script := strings.ReplaceAll(block, "http://localhost:8080", c.URL("site", ""))
		out, err := exec.Command("sh", "-c", strings.Replace(script, "curl ", "curl -fsS ", 1)).CombinedOutput()
		require.NoError(t, err, "%s\n%s", block, out)
		assert.Contains(t, string(out), `"model":"demo"`)
	}
	assert.GreaterOrEqual(t, lines, 2)
}

// The session with a login works when it is pasted, whole.
func TestSessionOfPagesWorks(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	s.AddUser("root")
	require.Equal(t, http.StatusOK, s.Call(http.MethodPatch, s.AdminURL("/api/v1/users/root"), `{"role":"root"}`).Status)
	i := slices.IndexFunc(blocks(t, "sh"), func(block string) bool { return strings.Contains(block, "/api/user/login") })
	require.GreaterOrEqual(t, i, 0)
	session := blocks(t, "sh")[i]
	captures := slices.IndexFunc(blocks(t, "sh"), func(block string) bool { return strings.Contains(block, "/api/v1/captures") })
	require.GreaterOrEqual(t, captures, 0)
	session = strings.Replace(session, "\ncurl -b session http://localhost:8080/api/v1/session\n", "\n"+blocks(t, "sh")[captures]+"\ncurl -b session http://localhost:8080/api/v1/session\n", 1)
	administrators := slices.IndexFunc(blocks(t, "sh"), func(block string) bool { return strings.Contains(block, "/api/v1/configuration") })
	require.GreaterOrEqual(t, administrators, 0)
	session = strings.Replace(session, "\ncurl -b session http://localhost:8080/api/v1/keys/1 ", "\n"+blocks(t, "sh")[administrators]+"\ncurl -b session http://localhost:8080/api/v1/keys/1 ", 1)
	script := strings.NewReplacer(
		"export PASSWORD=...", "export PASSWORD='"+site.Password+"'",
		"http://localhost:8080", s.URL("site", ""),
		"jq -r .key", `sed 's/.*"key":"\([^"]*\)".*/\1/'`, // jq is not everywhere
		"jq -r .token", `sed 's/.*"token":"\([^"]*\)".*/\1/'`,
		"curl ", "curl -fsS ",
	).Replace(session)
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	assert.Equal(t, 1, strings.Count(string(out), `"success":true`), "%s", out)
	assert.Equal(t, 5, strings.Count(string(out), `"next":""`), "%s", out)
	assert.Contains(t, string(out), `{"user":{"id":1,`)
	assert.Contains(t, string(out), `"model":"demo"`)
	assert.Contains(t, string(out), `"name":"laptop"`)
}

// ofStores are the commands that change or show a store: package command runs them, page by page.
var ofStores = regexp.MustCompile(`^(user|team|key|audit|backup|usage( --|\n))`)

// The other commands of the pages work, one after the other.
func TestCommandsOfPagesWork(t *testing.T) {
	s := site.Start(t, site.DemoProvider)
	running := strings.TrimPrefix(s.AdminURL(""), "http://")
	t.Setenv("GATEWAY_KEY", site.ClientKey)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte("model_list: [{model_name: a, litellm_params: {model: openai/b}}]\n"), 0o600))
	imported := filepath.Join(t.TempDir(), "Caddyfile")
	catalog := filepath.Join(t.TempDir(), "catalog.csv")
	require.NoError(t, os.WriteFile(catalog, []byte(blocks(t, "csv")[0]), 0o600))
	here := strings.NewReplacer("localhost:2019", running, "config.yaml", config, " >Caddyfile", "", " --database {env.DATABASE_URL}", "", "--config Caddyfile", "--config "+imported,
		"one-api.db", exampleDatabase(t), "/etc/caddy/catalog.csv", catalog, "/etc/caddy/new-api", filepath.Join(t.TempDir(), "new-api")) // tests of the import have a database of LiteLLM
	lines := 0
	for _, block := range blocks(t, "sh") {
		for line := range strings.Lines(block) {
			line = strings.TrimPrefix(line, "go run ./cmd/")
			if rest, ok := strings.CutPrefix(line, "caddy ai-gateway "); ok && !ofStores.MatchString(rest) {
				lines++
				for _, name := range []string{"usage reprice", "status", "targets", "explain", "limits", "configuration"} { // of a running gateway
					rest = strings.Replace(rest, name, name+" --address "+running, 1)
				}
				printed := strings.HasSuffix(line, " >Caddyfile\n")
				rest = here.Replace(strings.Replace(rest, "doctor", "doctor --url "+s.URL("site", ""), 1))
				out := site.RunCommand(t, "ai-gateway "+strings.ReplaceAll(rest, "'", ""))
				if printed {
					require.NoError(t, os.WriteFile(imported, []byte(out), 0o600))
				}
			}
		}
	}
	assert.GreaterOrEqual(t, lines, 6)
}

// exampleDatabase returns a database of new-api of which everything comes over.
func exampleDatabase(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one-api.db")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `
		CREATE TABLE channels (id INTEGER, type INTEGER, "key" TEXT, status INTEGER, name TEXT, models TEXT, "group" TEXT);
		CREATE TABLE users (id INTEGER, username TEXT, password TEXT, role INTEGER, status INTEGER, quota INTEGER);
		CREATE TABLE tokens (id INTEGER, user_id INTEGER, "key" TEXT, status INTEGER, name TEXT, remain_quota INTEGER, model_limits TEXT);
		INSERT INTO channels VALUES (1, 14, 'sk-upstream', 1, 'Claude', 'claude-opus-5', 'default');
		INSERT INTO users VALUES (1, 'alice', '`+aliceHash+`', 1, 1, 5000000);
		INSERT INTO tokens VALUES (1, 1, 'Examplealice000000000000000000000000000000000000', 1, 'laptop', 1500000, '');`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return path
}

// The table of presets has each preset with its formats and its address.
func TestProvidersPageListsEveryPreset(t *testing.T) {
	text, err := os.ReadFile("../caddyfile/docs/providers.md")
	require.NoError(t, err)
	for _, m := range caddy.GetModules("ai_gateway.providers") {
		preset := m.New().(aigateway.Preset)
		if strings.Contains(reflect.TypeOf(preset).Elem().PkgPath(), "/module/tests/") {
			continue // it exists for tests
		}
		row := "\n| `" + m.ID.Name() + "` | " + formatList(preset.Defaults().Formats) + " | "
		if _, inProcess := preset.(http.RoundTripper); !inProcess && preset.Defaults().BaseURL != "" {
			row += "`" + preset.Defaults().BaseURL + "` |\n"
		}
		assert.True(t, strings.Contains(string(text), row), "caddyfile/docs/providers.md lacks the row%s", row)
	}
}

func formatList(formats []translate.Format) string {
	names := make([]string, len(formats))
	for i, format := range formats {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}

// The table of formats of the README agrees with the gateway.
func TestReadmeShowsWhichFormatsAreTranslated(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	for _, client := range formats.Names() {
		row := regexp.MustCompile("(?m)^\\| `" + string(client) + "`: `POST [^|]*` \\|(.*)\\|$").FindSubmatch(text)
		require.NotNil(t, row, client)
		cells := strings.Split(string(row[1]), "|")
		require.Len(t, cells, len(formats.Names()))
		for i, provider := range formats.Names() {
			want := "refused"
			switch {
			case client == provider:
				want = "byte for byte"
			case pairs.CanTranslate(client, provider):
				want = "translated"
			}
			assert.Equal(t, want, strings.TrimSpace(cells[i]), "%s to %s", client, provider)
		}
	}
}

var (
	tableStart = regexp.MustCompile(`(?m)(?:\A|^[^|\n].*\n|^\n)(\|.*)\n(.*)`)
	ruler      = regexp.MustCompile(`^\|[-:| ]+\|$`)
)

// TestTablesOfPagesAreWhole: an empty line cut the last rows off a table, which pages showed as text
// with bars.
func TestTablesOfPagesAreWhole(t *testing.T) {
	broken := func(text string) (rows []string) {
		for _, start := range tableStart.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if !ruler.MatchString(start[2]) {
				rows = append(rows, start[1])
			}
		}
		return rows
	}
	assert.Equal(t, []string{"| c |"}, broken("| a |\n|---|\n| b |\n\n| c |\n| d |\n"))
	assert.Equal(t, []string{"| c |"}, broken("text\n| a |\n|:--|\n| b |\ntext\n| c |\n"))
	assert.Empty(t, broken("# t\n\n| a |\n|---|\n| b |\n\n```\n| no table\n```\n"))
	rules, err := filepath.Glob("../translate/rules/*.md")
	require.NoError(t, err)
	for _, page := range append(rules, userPages(t)...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Empty(t, broken(string(text)), page)
	}
}

// Every direct dependency has its reason in xcaddy.md.
func TestEveryDependencyHasItsReason(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	reasons, err := os.ReadFile("../xcaddy.md")
	require.NoError(t, err)
	direct, _, _ := strings.Cut(string(mod), "// indirect")
	found := regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(direct, -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.Contains(t, string(reasons), "| `"+m[1]+"` |")
	}
}

// Each namespace of modules has a row in xcaddy.md, which lacked the guards.
func TestEveryNamespaceOfModulesIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../xcaddy.md")
	require.NoError(t, err)
	found := make(map[string]bool)
	for _, pattern := range []string{"*/*.go", "*/*/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, m := range regexp.MustCompile(`namespace=(ai_gateway\.[a-z]+)`).FindAllStringSubmatch(string(source), -1) {
				found[m[1]] = true
			}
		}
	}
	assert.GreaterOrEqual(t, len(found), 5)
	for namespace := range found {
		assert.Contains(t, string(page), "| `"+namespace+"` |")
	}
}

var auditAction = regexp.MustCompile(`"((?:user|key|team|login|session|ledger)\.[a-z_]+|logout|config\.load)"`)

// The page of the audit log has each action that the code records.
func TestActionsOfTheAuditLogAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../caddyfile/docs/audit.md")
	require.NoError(t, err)
	found := 0
	for _, folder := range []string{"accounts/store", "accounts", "gateway", "command"} {
		files, err := filepath.Glob(folder + "/*.go")
		require.NoError(t, err)
		for _, file := range files {
			source, err := os.ReadFile(file)
			require.NoError(t, err)
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range auditAction.FindAllStringSubmatch(string(source), -1) {
				found++
				assert.Contains(t, string(page), "`"+m[1]+"`", file)
			}
		}
	}
	assert.Greater(t, found, 15)
}

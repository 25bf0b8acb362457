package observability_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mistake is a mistake in the lines of a site, from the sixth line of the file on, or in its matcher.
type mistake struct {
	line    string
	found   string // by adapt if the file alone shows it, else by validate
	message string
	matcher string
}

// Each kind of mistake once.
var mistakes = map[string]mistake{
	"an unknown word":             {"providr demo", "adapt", "did you mean 'provider'?", ""},
	"a word twice":                {"max_body 1MiB\nmax_body 2MiB", "adapt", "max_body is given twice", ""},
	"a value of another kind":     {"max_body soon", "adapt", "max_body needs a size above zero", ""},
	"an unknown preset":           {"provider nobody", "adapt", "no preset is named 'nobody'", ""},
	"a literal secret":            {"provider openai sk-literal-0123456789", "adapt", "is no preset", ""},
	"an unknown provider":         {"model m {\nto nobody\n}", "adapt", "model 'm': unknown provider 'nobody'", ""},
	"an unknown enclosing limit":  {"limit l {\nrequests 1/1s\nwithin nobody\n}", "adapt", "limit 'l': within names the limit 'nobody'", ""},
	"two of a name":               {"provider openai {env.SET}\nprovider openai {env.SET}", "adapt", "provider 'openai' is defined twice", ""},
	"a relative path":             {"catalog catalog.csv", "adapt", "catalog", ""},
	"a matcher in vain":           {"", "adapt", "no path of the gateway begins so", "/ai/*"},
	"a variable that is not set":  {"provider openai {env.NOT_SET}", "validate", "provider 'openai': loading transport: api_key: resolving secret: {env.NOT_SET} is not set", ""},
	"a secret's file":             {"provider openai {file./nowhere/key}", "validate", "provider 'openai': loading transport: api_key: resolving secret: ", ""},
	"a key that is not set":       {"key a {env.NOT_SET}", "validate", "key a: resolving secret: {env.NOT_SET} is not set", ""},
	"two names of a key":          {"key a {env.SET}\nkey b {env.SET}", "validate", "key b: has the same value as key a", ""},
	"a limit that is not defined": {"key a {env.SET} {\nlimit nobody\n}", "validate", "key 'a' names the limit 'nobody', which is not defined", ""},
	"a file of keys":              {"keys_file /nowhere/keys", "validate", "/nowhere/keys", ""},
	"a broken catalog":            {"catalog {env.BROKEN}", "validate", "catalog", ""},
	"a guard that is not defined": {"log_content {\nredact nobody\n}", "validate", "log_content", ""},
	"a key of seals":              {"seal_keys {env.SHORT}", "validate", "the key of seals is too short", ""},
	"a database":                  {"store postgres {env.NOT_SET}", "validate", "{env.NOT_SET} is not set", ""},
	"a client of an issuer":       {"accounts {\noidc https://login.example.com {\nclient_id c\nclient_secret {env.NOT_SET}\n}\n}", "validate", "{env.NOT_SET} is not set", ""},
	"counters":                    {"counters redis 127.0.0.1:9 {\npassword {env.NOT_SET}\n}", "validate", "{env.NOT_SET} is not set", ""},
}

// place matches the place of the mistake.
func (m mistake) place() string {
	if m.matcher != "" {
		return `Caddyfile:5\b`
	}
	return `Caddyfile:([6-9]|10)\b`
}

// Errors that only loading finds began with some 300 characters of Caddy's modules, and named no line.
func TestMistakesAreNamedWithTheirLine(t *testing.T) {
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			broken := filepath.Join(dir, "broken.csv")
			require.NoError(t, os.WriteFile(broken, []byte("no,columns\n"), 0o600))
			text := "{\n\tadmin off\n}\nhttp://127.0.0.1:0 {\n\tai_gateway " + m.matcher + " {\n" + m.line + "\n\t\tprovider demo {\n\t\t\tmodels demo\n\t\t}\n\t}\n}\n"
			require.NoError(t, os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(text), 0o600))
			for _, command := range []string{"adapt", "validate", "run"} {
				cmd := exec.Command(os.Args[0], command, "--config", "Caddyfile", "--adapter", "caddyfile")
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir,
					"SET=sk-of-a-client-0123456789", "SHORT=short", "BROKEN="+broken)
				out, err := cmd.CombinedOutput()
				if command == "adapt" && m.found == "validate" {
					assert.NoError(t, err, "a Caddyfile is adapted on another machine than it runs on: %s", out)
					continue
				}
				t.Log(string(out))
				require.Error(t, err, command)
				assert.Contains(t, string(out), m.message, command)
				assert.NotContains(t, string(out), "sk-", command)
				first, _, _ := strings.Cut(string(out[strings.Index(string(out), "rror"):]), "\n")
				assert.Regexp(t, m.place(), first, "%s: the first error names the line", command)
				assert.NotContains(t, first, "provision", "%s: without Caddy's modules", command)
			}
		})
	}
}

package caddyfile_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/standard"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/caddyfile"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/postgres"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/store/sqlite"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/counters/redis"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache/redis"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/guards"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/keys"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/azure"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/bedrock"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/vertex"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/balance"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

var update = flag.Bool("update", false, "rewrite the second halves of the goldens")

const (
	goldens   = "../testdata/caddyfiles/adapt/*.caddyfiletest"
	separator = "\n----------\n"
	canary    = "sk-canary-from-the-environment"
)

// adapt returns what `caddy adapt` prints for a Caddyfile: indented JSON, or
// the text of the error.
func adapt(t *testing.T, input string) string {
	t.Helper()
	adapter := caddyconfig.GetAdapter("caddyfile")
	require.NotNil(t, adapter)
	config, warnings, err := adapter.Adapt([]byte(input), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err.Error() + "\n"
	}
	assert.Empty(t, warnings)
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, config, "", "\t"))
	return withoutLines(indented.String()) + "\n"
}

// lines matches the lines that an adapted configuration has of its Caddyfile.
const lines = `"written": \{\s*"digest": "[^"]*",\s*"lines": \[(?s:.*?)\n\t*\]\n\t*\}`

// withoutLines removes the lines: they repeat the first half of a golden, and have a test of their own.
func withoutLines(adapted string) string {
	for _, around := range [][3]string{{`,\s*`, ``, ``}, {`\{\s*`, `\s*\}`, `{}`}, {``, `,\s*`, ``}} {
		adapted = regexp.MustCompile(around[0]+lines+around[1]).ReplaceAllString(adapted, around[2])
	}
	return adapted
}

func readGoldens(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(goldens)
	require.NoError(t, err)
	contents := make(map[string]string, len(files))
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		contents[file] = string(content)
	}
	return contents
}

func TestGoldensAdaptAsWritten(t *testing.T) {
	t.Setenv("CANARY_KEY", canary)
	contents := readGoldens(t)
	require.GreaterOrEqual(t, len(contents), 45)
	for file, content := range contents {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			input, want, separated := strings.Cut(content, separator)
			require.True(t, separated || *update)
			input = strings.TrimSuffix(input, "\n") + "\n"
			assert.Equal(t, string(cf.Format([]byte(input))), input, "caddy fmt would change the file")
			got := adapt(t, input)
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(strings.TrimSuffix(input, "\n")+separator+got), 0o644))
				return
			}
			assert.Equal(t, want, got)
			assertNoSecret(t, input, got)
		})
	}
}

var literalSecret = regexp.MustCompile(`sk-[A-Za-z0-9-]+`)

// assertNoSecret ensures that neither the configuration, which the admin API shows, nor
// an error, which is logged, contains a literal key of a Caddyfile.
func assertNoSecret(t *testing.T, input, output string) {
	t.Helper()
	assert.NotContains(t, output, canary)
	for _, secret := range literalSecret.FindAllString(input, -1) {
		assert.NotContains(t, output, secret)
	}
}

func TestErrorGoldensNameFileAndLine(t *testing.T) {
	for file, content := range readGoldens(t) {
		_, output, _ := strings.Cut(content, separator)
		isError := strings.HasPrefix(filepath.Base(file), "error_")
		assert.Equal(t, !isError, strings.HasPrefix(output, "{"), file)
		if isError {
			assert.Regexp(t, `Caddyfile:[0-9]+`, output, file)
		}
	}
}

func TestEveryTraitIsAWordOfProviders(t *testing.T) {
	const file = "../testdata/caddyfiles/adapt/provider_traits.caddyfiletest"
	for _, name := range trait.Names() {
		assert.Contains(t, readGoldens(t)[file], "\n\t\t\t"+name+" ", "the golden file lacks the trait")
	}
}

// A new path of the API must not be one that a matcher is refused for.
func TestAMatcherMayNameEachPathOfTheGateway(t *testing.T) {
	document, err := os.ReadFile("../module/accounts/openapi.json")
	require.NoError(t, err)
	var api struct{ Paths map[string]any }
	require.NoError(t, json.Unmarshal(document, &api))
	require.NotEmpty(t, api.Paths)
	for path := range api.Paths {
		first, _, _ := strings.Cut(path, "{")
		for _, matcher := range []string{first, first + "*", strings.ToUpper(first)} {
			assert.True(t, strings.HasPrefix(adapt(t, "http://:80 {\n\tai_gateway "+matcher+" {\n\t\tprovider demo\n\t}\n}\n"), "{"), matcher)
		}
	}
}

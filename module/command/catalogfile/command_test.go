package catalogfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers"
	_ "github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/azure"
)

// run returns the output of the command with arguments.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd := Command()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// file writes a catalog file.
func file(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.csv")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func TestModelsAreListedByTheirNames(t *testing.T) {
	all, err := run(t)
	require.NoError(t, err)
	assert.Greater(t, strings.Count(all, "\n"), 500)
	some, err := run(t, "anthropic/claude-opus-4-*")
	require.NoError(t, err)
	assert.Regexp(t, `anthropic/claude-opus-4-7 +1000000 +128000 +none +adaptive +5/25 USD`, some)
	assert.NotContains(t, some, "bedrock")
	_, err = run(t, "unheard-of")
	assert.ErrorIs(t, err, errNothingKnown)
}

func TestAllFactsOfOneModelAreShown(t *testing.T) {
	out, err := run(t, "anthropic/claude-opus-4-7-20260420")
	require.NoError(t, err)
	for _, want := range []string{
		`sampling +none`, `trait sampling +none`, `trait max_output_tokens +128000`, `price input +5\n`, `price batch +0.5\n`, `price source +\S`,
		`as of +2026-`, `source +\S`, `from +the table that is compiled in`,
	} {
		assert.Regexp(t, want, out)
	}
	own := file(t, "provider,models,longest,input,output,note", "anthropic,claude-opus-9,1000,1,2,a note")
	out, err = run(t, "--catalog", own, "claude-opus-9")
	require.NoError(t, err)
	assert.Regexp(t, `longest +1000\n`, out)
	assert.Regexp(t, `price output +2\n`, out)
	assert.Regexp(t, `from +the file`, out)
	assert.Regexp(t, `note +a note\n`, out)
}

// A price from a file was once shown with the source and the date of the facts, which come from
// another table. A model of which only the price is known was unknown, and a price of minutes was
// shown as 0/0.
func TestAPriceHasItsOwnOrigin(t *testing.T) {
	own := file(t, "provider,models,input,output,minute,as_of,source", "anthropic,claude-opus-4-7,4,20,,2026-11-28,our contract", "house,secret,,,0.5,,")
	out, err := run(t, "--catalog", own, "anthropic/claude-opus-4-7")
	require.NoError(t, err)
	assert.Regexp(t, `\nfrom +the table that is compiled in\n(.*\n)*price from +the file\nprice as of +2026-11-28\nprice source +our contract\n`, out)
	out, err = run(t, "--catalog", own, "house/secret")
	require.NoError(t, err)
	assert.Regexp(t, `^model +house/secret\nfacts +unknown\nprice minute +0.5\nprice currency +USD\nprice from +the file\n$`, out)
	out, err = run(t, "--catalog", own, "secret", "claude-opus-4-7")
	require.NoError(t, err)
	assert.Regexp(t, `house/secret +minute 0.5 USD`, out)
}

// The command once had the names of rows alone: it found two models for the first name, and none
// for the others, which the gateway knows.
func TestModelsAreFoundAsTheGatewayFindsThem(t *testing.T) {
	for name, want := range map[string]string{
		"openai/o3":                                 `shutdown +2026-12-11`,
		"openai/ft:gpt-4.1-mini:acme::a":            `longest +32768`,
		"openrouter/anthropic/claude-opus-5.5:free": `longest +128000`,
		"gemini/models/gemini-2.5-pro":              `price input +1.25`,
		"azure_claude/claude-opus-5-5":              `longest +128000`,
		"openai/GPT-5.5":                            `price input +5\n`,
	} {
		out, err := run(t, name)
		if assert.NoError(t, err, name) {
			assert.Regexp(t, `^model +`+name+`\n`, out)
			assert.Regexp(t, want, out, name)
		}
	}
}

func TestAFileIsChecked(t *testing.T) {
	out, err := run(t, "check", file(t, "provider,models,longest,input,output", "p,m n,1000,,", "p,m,,1,2"))
	require.NoError(t, err)
	assert.Contains(t, out, "is valid: 1 rows with facts, 1 names with prices\np is no preset: its rows apply to a provider with this name, or with listed_as p\n")
	out, err = run(t, "check", file(t, "provider,models,longest", "anthropic,claude-opus-9,1000"))
	require.NoError(t, err)
	assert.NotContains(t, out, "preset")
	_, err = run(t, "check", file(t, "provider,models,longest,input,output", "p,m,soon,,", "p,n,,1,x"))
	assert.ErrorContains(t, err, "line 2, column 5: longest: must be a number of tokens, got 'soon'\n")
	assert.ErrorContains(t, err, "line 3, column 8: output: a price is a decimal number")
	// Once, check accepted files that the gateway refuses.
	_, err = run(t, "check", file(t, "provider,models,input,output", "openai,gpt-4.1,0.002,0.008", "openai,gpt-4o,900,900"))
	assert.EqualError(t, err, "openai gpt-4.1: input costs 0.002 for a million tokens, and 2 before: if this is correct, set confirmed to yes\n"+
		"openai gpt-4o: input costs 900 for a million tokens, and 2.5 before: if this is correct, set confirmed to yes")
	_, err = run(t, "check", "/nowhere")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestDifferencesOfFilesAreShown(t *testing.T) {
	next := file(t, "provider,models,longest,input,output,source", "anthropic,claude-opus-4-7,1000,6,25,me", "anthropic,claude-opus-9,,1,2,")
	out, err := run(t, "diff", next)
	require.NoError(t, err)
	assert.Regexp(t, `anthropic/claude-opus-4-7 +longest +128000 +-> +1000\n`, out)
	assert.Regexp(t, `anthropic/claude-opus-4-7 +price input +5 +-> +6\n`, out)
	assert.Regexp(t, `anthropic/claude-opus-4-7 +price cache_read +0.5 +-> +\(empty\)\n`, out, "a difference that input and output once did not show")
	assert.NotContains(t, out, "price output")
	assert.Regexp(t, `anthropic/claude-opus-9 +price +unknown +-> +1/2 USD\n`, out)
	out, err = run(t, "diff", next, next)
	require.NoError(t, err)
	assert.Equal(t, "no price and no fact changes\n", out)
	out, err = run(t, "diff", file(t, "provider,models,longest"), next)
	require.NoError(t, err)
	assert.Regexp(t, `claude-opus-4-7 +longest +1000 +-> +128000`, out)
}

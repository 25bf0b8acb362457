package command

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// importing runs the command on a configuration, and returns what it prints.
func importing(t *testing.T, config string, args ...string) (caddyfile, report string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	cmd := importCommand()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true // as Caddy's root command does
	var out, messages bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&messages)
	cmd.SetArgs(append([]string{"litellm", file}, args...))
	err = cmd.Execute()
	return out.String(), messages.String(), err
}

const importedModel = "model_list: [{model_name: gpt, litellm_params: {model: openai/gpt-4o}}]\n"

// The report named only variables that the import had made up: a Caddyfile of an import did
// not load until the operator had searched it for the others.
func TestTheExitStatusOfAnImportSaysWhetherAllCameOver(t *testing.T) {
	text, report, err := importing(t, importedModel+"litellm_settings: {drop_params: true}\n", "--site", "http://127.0.0.1:1")
	require.NoError(t, err)
	assert.Contains(t, text, "to openai/gpt-4o")
	assert.Contains(t, text, "http://127.0.0.1:1 {")
	assert.Equal(t, "\n1 provider, 1 model; 0 changed, 0 left out.\nVariables to set: OPENAI_API_KEY.\n", report)

	text, report, err = importing(t, importedModel+"guardrails: [{guardrail_name: pii}]\n", "--dry-run")
	assert.EqualValues(t, exitIncomplete, exitStatus(err))
	assert.Empty(t, report)
	assert.Equal(t, `RESULT           WHERE                         WHAT
comes over                                     1 provider
comes over                                     1 model
PROTECTION LOST  guardrails[0]                 the guardrail pii is not imported: write a guard, regex for patterns or webhook for a service that decides (page on guards)
changed          litellm_settings.drop_params  fields that a provider does not know are left out and reported; on_loss reject refuses them
to set                                         the variable OPENAI_API_KEY
`, text)

	_, _, err = importing(t, "- no mapping\n")
	assert.EqualValues(t, 1, exitStatus(err))
}

func TestKeysAreWrittenForTheirOwnerAndNeverOverOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, writeNew(path, migration.KeysFile([]migration.Key{{Name: "a", Digest: migration.Digest("sk-a")}})))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	assert.ErrorContains(t, writeNew(path, ""), "exists")

	_, _, err = importing(t, importedModel, "--keys", "relative")
	assert.ErrorContains(t, err, "--keys needs an absolute path")
	_, _, err = importing(t, importedModel, "--database", "postgres://user:pw-canary@127.0.0.1/db")
	require.ErrorContains(t, err, "a DSN is not an argument")
	assert.NotContains(t, err.Error(), "canary")
	_, _, err = importing(t, importedModel, "--database", "{env.NOT_SET_pw-canary}")
	require.ErrorContains(t, err, "reading the DSN")
}

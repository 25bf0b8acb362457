package pairs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// capturedBody returns the body of a request that Codex really sent.
func capturedBody(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "captures", "codex", name))
	require.NoError(t, err)
	var capture struct{ Body json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &capture))
	return string(capture.Body)
}

// Codex cannot leave out a tool that a provider does not know: what is refused of
// its requests makes it unusable.
func TestCapturesOfCodexReachProvidersOfOtherFormats(t *testing.T) {
	own := []string{"exec_command", "write_stdin", "request_user_input", "apply_patch", "view_image", "get_goal", "create_goal", "update_goal", "tool_search"}
	for name, c := range map[string]struct {
		tools  []string // the first tools that the provider can call
		shaped []string // the fields whose loss may change the answer
	}{
		"first-turn.json": {own, []string{"tools[*].format", "tools[*].type", "text.verbosity", "reasoning.effort"}},
		"third-turn.json": {own, []string{"foreign reasoning", "tools[*].format", "tools[*].type", "text.verbosity", "reasoning.effort"}},
		"script-in-namespace.json": {
			[]string{"functions__exec", "functions__wait", "functions__request_user_input", "functions__request_user_input_async", "clock__sleep"},
			[]string{"reasoning.context", "foreign reasoning", "input[*].tools[*].tools[*].format", "text.verbosity", "reasoning.effort"},
		},
	} {
		for to, reasoning := range map[translate.Format]string{translate.Messages: "input[*].encrypted_content", translate.Chat: "input[*].summary\ninput[*].encrypted_content"} {
			t.Run(name+"/"+string(to), func(t *testing.T) {
				out, r := renderCaseOf(t, translate.Responses, to, renderCase{body: capturedBody(t, name)})
				want := strings.ReplaceAll(strings.Join(c.shaped, "\n"), "foreign reasoning", reasoning)
				assert.Equal(t, want, strings.Join(shapingLosses(r), "\n"))
				sent := toolNames(t, out)
				assert.Equal(t, c.tools, sent[:min(len(sent), len(c.tools))])
			})
		}
	}
}

// shapingLosses returns the fields whose loss may change the answer.
func shapingLosses(r core.Rendered) (fields []string) {
	for loss := range strings.SplitSeq(lossesOf(r.Losses), ", ") {
		if field, shaping := strings.CutSuffix(loss, " shaping"); shaping {
			fields = append(fields, field)
		}
	}
	return fields
}

// toolNames returns the names of the tools that a request of the messages or of the
// chat format offers.
func toolNames(t *testing.T, body []byte) (names []string) {
	t.Helper()
	type named struct{ Name string }
	var request struct {
		Tools []struct {
			named
			Function *named
		}
	}
	require.NoError(t, json.Unmarshal(body, &request))
	for _, tool := range request.Tools {
		if tool.Function != nil {
			tool.named = *tool.Function
		}
		names = append(names, tool.Name)
	}
	return names
}

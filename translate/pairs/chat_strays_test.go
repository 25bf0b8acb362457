package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// Members that only another role or another type has were read, and then left
// out without a word.
func TestMembersOfOtherRolesAndTypesAreReported(t *testing.T) {
	const turns = `"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}],"function_call":{"name":"f"},"refusal":"r","audio":{"id":"a"},` +
		`"reasoning_content":"r","reasoning":"r","thinking_blocks":[{"type":"thinking"}]`
	const lostTurns = "messages[*].tool_calls,messages[*].function_call,messages[*].refusal,messages[*].audio," +
		"messages[*].reasoning_content,messages[*].reasoning,messages[*].thinking_blocks"
	for name, tt := range map[string]struct{ messages, losses string }{
		"of a user":     {`{"role":"user","content":"a","tool_call_id":"c",` + turns + `}`, "messages[*].tool_call_id," + lostTurns},
		"of a system":   {`{"role":"system","content":"a","tool_call_id":"c",` + turns + `},` + hi, "messages[*].tool_call_id," + lostTurns},
		"what is empty": {`{"role":"user","content":"a","tool_calls":[],"refusal":"","reasoning_content":null,"thinking_blocks":[ ]}`, ""},
		"of a text": {
			`{"role":"user","content":[{"type":"text","text":"a","image_url":{"url":"https://x"},"file":{"file_id":"f"},"refusal":"r","thinking":"t","signature":"s","data":"d"}]}`,
			"messages[*].content[*].thinking,messages[*].content[*].signature,messages[*].content[*].data," +
				"messages[*].content[*].refusal,messages[*].content[*].image_url,messages[*].content[*].file",
		},
		"of a refusal": {hi + `,{"role":"assistant","content":[{"type":"refusal","refusal":"r","text":"t"}]},` + hi, "messages[*].content[*].text"},
	} {
		for _, to := range []translate.Format{translate.Messages, translate.Completions} {
			assert.Equal(t, tt.losses, lostOf(t, to, talk(tt.messages)), "%s, to %s", name, to)
		}
	}
	assert.Equal(t, "messages[*].content[*].text", lostOf(t, translate.Messages, talk(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"},"text":"t"}]}`)))
	assert.Equal(t, "messages[*].tool_calls", lostOf(t, translate.Messages, talk(`{"role":"tool","tool_call_id":"c","content":"r"`+oneCall+`}`)))
}

// An empty list of thinking blocks beside the reasoning hid that the reasoning
// was left out.
func TestReasoningBesideNoThinkingBlocksIsReported(t *testing.T) {
	body := talk(hi + `,{"role":"assistant","content":"a","reasoning_content":"r","thinking_blocks":[ ]},` + hi)
	assert.Equal(t, "messages[*].reasoning_content", lostOf(t, translate.Messages, body))
}

// lostOf are the losses of a chat request that is inspected and translated.
func lostOf(t *testing.T, target translate.Format, body string) string {
	t.Helper()
	_, fault := formats.Of(translate.Chat).Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, fault, body)
	_, r, fault := pairs.Render(nil, translate.Chat, target, []byte(body), &core.RequestInfo{Model: "m1", Upstream: "up"})
	require.Nil(t, fault, body)
	return r.Losses.String()
}

// Modalities that were no list were not looked at.
func TestModalitiesThatAreNoListAreRefused(t *testing.T) {
	runRenderCases(t, translate.Chat, translate.Messages, []renderCase{
		{name: "one word", body: talk(hi, `"modalities":"audio"`), fault: "modalities: 'audio'" + notM1 + "messages)"},
	})
}

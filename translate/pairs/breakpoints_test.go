package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

const (
	ephemeral = `"cache_control":{"type":"ephemeral"}`
	anHour    = `"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

// Clients whose messages consist of one text, such as those of the AI SDK, put the breakpoint of the
// cache on the message. It was reported as an unknown member, and Claude cached nothing of a session.
func TestBreakpointsOfMessagesOfChat(t *testing.T) {
	marked := func(role, rest string) string { return `{"role":"` + role + `",` + rest + `,` + anHour + `}` }
	const call = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]`
	for name, c := range map[string]struct {
		body      string
		claude    string // what the block with the breakpoint is in the messages format, up to that
		converse  string // what is in front of the breakpoint there
		responses string // "" where the format has no place for one
	}{
		"system": {
			talk(marked("system", `"content":"s"`) + "," + hi), `{"type":"text","text":"s"`, `{"text":"s"}`, `{"type":"input_text","text":"s"`,
		},
		"user":          {talk(marked("user", `"content":"u"`)), `{"type":"text","text":"u"`, `{"text":"u"}`, `{"type":"input_text","text":"u"`},
		"user in parts": {talk(marked("user", `"content":[{"type":"text","text":"u"}]`)), `{"type":"text","text":"u"`, `{"text":"u"}`, `{"type":"input_text","text":"u"`},
		"assistant":     {talk(hi + "," + marked("assistant", `"content":"a"`) + "," + bye), `{"type":"text","text":"a"`, `{"text":"a"}`, ""},
		"assistant that refuses": {
			talk(hi + "," + marked("assistant", `"content":null,"refusal":"a"`) + "," + bye), `{"type":"text","text":"a"`, `{"text":"a"}`, "",
		},
		"assistant with a call": {
			talk(hi + "," + marked("assistant", `"content":"a",`+call) + `,{"role":"tool","tool_call_id":"c1","content":"r"}`),
			`"name":"f","input":{}`, `"name":"f","input":{}}}`, "",
		},
		"result": {
			talk(hi + `,` + asksCall + `,` + marked("tool", `"tool_call_id":"c1","content":"r"`)), `"tool_use_id":"c1","content":"r"`, `"content":[{"text":"r"}]}}`, "",
		},
		"empty result": {talk(hi + `,` + asksCall + `,` + marked("tool", `"tool_call_id":"c1","content":""`)), `"tool_use_id":"c1"`, `"content":[{"text":"[no output]"}]}}`, ""},
	} {
		out, losses, refused := rendered(t, translate.Chat, translate.Messages, c.body, "prefill native")
		require.Empty(t, refused, name)
		assert.Equal(t, 1, strings.Count(out, c.claude+`,`+anHour+`}`), "%s: %s", name, out)
		assert.NotContains(t, losses, "cache", name)

		out, losses, refused = rendered(t, translate.Chat, translate.Converse, c.body, "cache_breakpoints true")
		require.Empty(t, refused, name)
		assert.Contains(t, out, c.converse+`,{"cachePoint":{"type":"default","ttl":"1h"}}`, name)
		assert.NotContains(t, losses, "cache", name)

		out, _, refused = rendered(t, translate.Chat, translate.Responses, c.body, "cache_breakpoints true; prefill native")
		require.Empty(t, refused, name)
		if c.responses != "" {
			assert.Contains(t, out, c.responses+`,"prompt_cache_breakpoint":{"mode":"explicit"}}`, name)
		}
		_, losses, _ = rendered(t, translate.Chat, translate.Responses, c.body, "prefill native")
		assert.Contains(t, losses, "messages[*].cache_control hint", "%s: what is not sent is reported", name)
	}
}

// A message without a part that can have a breakpoint, and one that has a breakpoint already.
func TestBreakpointsOfMessagesWithoutAPlace(t *testing.T) {
	for name, message := range map[string]string{
		"of reasoning alone": `{"role":"assistant","content":null,"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"S"}],` + ephemeral + `}`,
		"empty":              `{"role":"assistant","content":"",` + ephemeral + `}`,
		"blank":              `{"role":"assistant","content":" \n",` + ephemeral + `}`,
	} {
		for _, to := range []translate.Format{translate.Messages, translate.Converse} {
			out, losses, refused := rendered(t, translate.Chat, to, talk(hi+","+message+","+bye), "cache_breakpoints true")
			require.Empty(t, refused, name)
			assert.NotContains(t, strings.ToLower(out), "cache", "%s to %s", name, to)
			assert.Contains(t, losses, "cache_control hint", "%s to %s", name, to)
		}
	}
	twice := talk(`{"role":"user","content":[{"type":"text","text":"u",`+anHour+`}],`+ephemeral+`}`, ephemeral)
	out, losses, refused := rendered(t, translate.Chat, translate.Messages, twice, "")
	require.Empty(t, refused)
	assert.Equal(t, 1, strings.Count(out, anHour), out)
	assert.NotContains(t, out, ephemeral)
	assert.NotContains(t, losses, "cache")
	out, _, _ = rendered(t, translate.Chat, translate.Converse, twice, "cache_breakpoints true")
	assert.Equal(t, 1, strings.Count(out, "cachePoint"), out)

	_, _, refused = rendered(t, translate.Chat, translate.Messages, talk(`{"role":"user","content":"u","cache_control":"ephemeral"}`), "")
	assert.Equal(t, "messages[0].cache_control", refused)
}

// Anthropic puts the breakpoint of a request on its last block. Bedrock and Vertex refuse the member of
// the request, so that the block has it everywhere.
func TestTheBreakpointOfARequestIsOnItsLastBlock(t *testing.T) {
	for _, from := range []translate.Format{translate.Chat, translate.Messages} {
		body := talk(hi, anHour)
		if from == translate.Messages {
			body = conversation(hi, anHour)
		}
		out, losses, refused := rendered(t, from, translate.Converse, body, "cache_breakpoints true")
		require.Empty(t, refused)
		assert.Contains(t, out, `{"text":"hi"},{"cachePoint":{"type":"default","ttl":"1h"}}]`, from)
		assert.NotContains(t, losses, "cache", from)
		out, losses, _ = renderedFor(t, from, translate.Converse, body, "us.amazon.nova-pro-v1:0", "cache_breakpoints true")
		assert.Contains(t, out, `{"text":"hi"},{"cachePoint":{"type":"default"}}]`, from)
		assert.Contains(t, losses, "ttl hint", "%s: the model has one lifetime", from)
		_, losses, _ = rendered(t, from, translate.Converse, body, "")
		assert.Contains(t, losses, "cache_control hint", "%s: a model without a cache", from)
	}
	result := `,{"role":"tool","tool_call_id":"c1","content":"r"}`
	for body, want := range map[string]string{
		talk(hi, anHour):    `{"type":"text","text":"hi",` + anHour + `}`,
		talk(hi, ephemeral): `{"type":"text","text":"hi",` + ephemeral + `}`,
		talk(hi, `"cache_control":{"type":"ephemeral","ttl":"2h"}`): `{"type":"text","text":"hi",` + ephemeral + `}`,
		talk(hi+`,`+asksCall+result, ephemeral):                     `"content":"r",` + ephemeral + `}`,
	} {
		out, losses, refused := rendered(t, translate.Chat, translate.Messages, body, "")
		require.Empty(t, refused)
		assert.Equal(t, 1, strings.Count(out, want), out)
		assert.Equal(t, 1, strings.Count(out, "cache_control"), out)
		assert.NotContains(t, losses, "cache")
	}
	out, losses, _ := rendered(t, translate.Chat, translate.Converse, talk(hi+`,{"role":"assistant","content":"a"}`, ephemeral), "cache_breakpoints true; prefill native")
	assert.NotContains(t, out, "cachePoint")
	assert.Contains(t, losses, "cache_control hint")
}

// Bedrock refuses a breakpoint behind reasoning. A blank text that had one was left out, so that
// the breakpoint came there, and every later request of the session failed.
func TestConverseHasNoBreakpointBehindReasoning(t *testing.T) {
	const (
		thought = `{"type":"thinking","thinking":"t","signature":"S"}`
		hidden  = `{"type":"redacted_thinking","data":"AAAA"}`
		blank   = `{"type":"text","text":" ",` + ephemeral + `}`
	)
	replied := func(blocks string) string {
		return conversation(hi + `,{"role":"assistant","content":[` + blocks + `]},{"role":"user","content":"b"}`)
	}
	for name, body := range map[string]string{
		"thinking":          replied(thought + "," + blank),
		"redacted thinking": replied(hidden + "," + blank),
		"a text before":     replied(`{"type":"text","text":"a"},` + thought + "," + blank),
		"a blank text":      replied(`{"type":"text","text":"a"},` + blank),
		"of chat":           talk(hi + `,{"role":"assistant","thinking_blocks":[` + thought + `],"content":[` + blank + `]},` + bye),
	} {
		from := translate.Messages
		if name == "of chat" {
			from = translate.Chat
		}
		out, losses, refused := rendered(t, from, translate.Converse, body, "cache_breakpoints true")
		require.Empty(t, refused, name)
		assert.NotContains(t, out, "cachePoint", name)
		assert.Contains(t, losses, "cache_control hint", name)
	}
	out, _, _ := rendered(t, translate.Messages, translate.Converse, replied(thought+`,{"type":"text","text":"a",`+ephemeral+`}`), "cache_breakpoints true")
	assert.Contains(t, out, `{"text":"a"},{"cachePoint":{"type":"default"}}`)
}

// Clients of messages mark the blocks in results, as those of other formats do.
func TestMarksInsideResultsOfMessagesAreBehindThem(t *testing.T) {
	body := conversation(hi + `,{"role":"assistant","content":[` + useF + `]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"r",` + ephemeral + `}]}]}`)
	out, losses, refused := rendered(t, translate.Messages, translate.Converse, body, "cache_breakpoints true")
	require.Empty(t, refused)
	assert.Contains(t, out, `"content":[{"text":"r"}]}},{"cachePoint":{"type":"default"}}`)
	assert.NotContains(t, losses, "cache")
}

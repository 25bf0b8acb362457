package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

func TestMessagesFieldsTowardsChat(t *testing.T) {
	long := strings.Repeat("x", 150)
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{name: "the provider's model name and max_tokens", body: conversation(hi), want: asked(hi)},
		{
			name: "members in any order", body: `{"system":"s","messages":[{"content":"hi","role":"user"}],"max_tokens":10,"model":"m1"}`,
			want: asked(`{"role":"system","content":"s"},` + hi),
		},
		{
			name: "max_completion_tokens", traits: "max_tokens_field max_completion_tokens", body: conversation(hi),
			want: `{"model":"up","messages":[` + hi + `],"max_completion_tokens":10}`,
		},
		{
			name: "an integer however it is written", body: `{"model":"m1","max_tokens":1.6e1,"messages":[` + hi + `]}`,
			want: `{"model":"up","messages":[` + hi + `],"max_tokens":16}`,
		},
		{name: "system text", body: conversation(hi, `"system":"be \u0062rief\n"`), want: asked(`{"role":"system","content":"be \u0062rief\n"},` + hi)},
		{name: "empty system text", body: conversation(hi, `"system":""`), want: asked(hi)},
		{name: "developer role", traits: "system_role developer", body: conversation(hi, `"system":"s"`), want: asked(`{"role":"developer","content":"s"},` + hi)},
		{
			name: "system blocks are joined with a blank line", body: conversation(hi, `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":""},{"type":"text","text":"b"}]`),
			want: asked(`{"role":"system","content":"a\n\nb"},` + hi), losses: "system.*.cache_control hint",
		},
		{name: "temperature and top_p", body: conversation(hi, `"temperature":0.20,"top_p":1e-1`), want: asked(hi, `"temperature":0.20,"top_p":1e-1`)},
		{name: "sampling one, top_p alone", traits: "sampling one", body: conversation(hi, `"top_p":1`), want: asked(hi, `"top_p":1`)},
		{
			name: "sampling none", traits: "sampling none; extensions top_k", body: conversation(hi, `"temperature":0.2,"top_p":1,"top_k":3`), want: asked(hi),
			losses: "temperature shaping, top_p shaping, top_k shaping",
		},
		{name: "other extensions", traits: "extensions min_p", body: conversation(hi, `"min_p":0.10,"typical_p":1`), want: asked(hi, `"min_p":0.10`), losses: "typical_p hint"},
		{name: "stop sequences are never cut short", body: conversation(hi, `"stop_sequences":["a","b\n","c","d","e"]`), want: asked(hi, `"stop":["a","b\n","c","d","e"]`)},
		{name: "no stop sequences", body: conversation(hi, `"stop_sequences":[ ]`), want: asked(hi)},
		{name: "stream without usage", traits: "include_usage off", body: conversation(hi, `"stream":true`), want: asked(hi, `"stream":true`)},
		{name: "no stream", body: conversation(hi, `"stream":false`), want: asked(hi)},
		{
			name: "format", body: conversation(hi, `"output_config":{"format":{"type":"json_schema","schema":{"type": "object"}}}`),
			want: asked(hi, `"response_format":{"type":"json_schema","json_schema":{"name":"response","schema":{"type": "object"},"strict":true}}`),
		},
		{
			name: "format in its older place", body: conversation(hi, `"output_format":{"type":"json_schema","schema":{}}`),
			want: asked(hi, `"response_format":{"type":"json_schema","json_schema":{"name":"response","schema":{},"strict":true}}`),
		},
		{
			name: "format in both places", body: conversation(hi, `"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema","schema":{}}}`),
			fault: "output_format: must not be sent together with output_config.format",
		},
		{name: "a format without its schema", body: conversation(hi, `"output_config":{"format":{"type":"json_schema"}}`), fault: "output_config.format.schema: required"},
		{name: "output_config that is none", body: conversation(hi, `"output_config":"high"`), fault: "output_config: must be an object"},
		// Claude Code asks for 32000 tokens, which many models refuse.
		{
			name: "more tokens than the model gives", traits: "max_output_tokens 9", body: conversation(hi),
			want: strings.Replace(asked(hi), `"max_tokens":10`, `"max_tokens":9`, 1), losses: "max_tokens shaping",
		},
		{name: "as many tokens as the model gives", traits: "max_output_tokens 10", body: conversation(hi), want: asked(hi)},
		// It was looked up as the row about longer ids: an option that does not exist.
		{name: "a user of three dots", body: conversation(hi, `"metadata":{"user_id":"..."}`), want: asked(hi, `"user":"..."`)},
		{name: "user", body: conversation(hi, `"metadata":{"user_id":"{\"a\":1}","team":"t"}`), want: asked(hi, `"user":"{\"a\":1}"`), losses: "metadata.team hint"},
		{
			name: "user as a safety identifier", traits: "user_field safety_identifier", body: conversation(hi, `"metadata":{"user_id":"u"}`),
			want: asked(hi, `"safety_identifier":"u"`),
		},
		{
			name: "a long user id becomes its digest", body: conversation(hi, `"metadata":{"user_id":"`+long+`"}`),
			want: asked(hi, `"user":"a09244d54a7ed6e9f75c3f431270b7467ffbd133f4f9950931d0aa80ce4667e6"`), losses: "metadata.user_id shaping",
		},
		{name: "a long user id without a field", traits: "user_field none", body: conversation(hi, `"metadata":{"user_id":"`+long+`"}`), want: asked(hi), losses: "metadata.user_id hint"},
		{name: "a user id that is no string", body: conversation(hi, `"metadata":{"user_id":7}`), fault: "metadata.user_id: must be a string"},
		{name: "service tier auto", traits: "extensions service_tier", body: conversation(hi, `"service_tier":"auto"`), want: asked(hi, `"service_tier":"auto"`)},
		{
			name: "service tier standard_only", traits: "extensions service_tier", body: conversation(hi, `"service_tier":"standard_only"`),
			want: asked(hi, `"service_tier":"default"`),
		},
		{name: "a service tier that nobody knows", traits: "extensions service_tier", body: conversation(hi, `"service_tier":"gold"`), want: asked(hi), losses: "service_tier hint"},
		{
			name: "cache_control as a breakpoint on the last part", traits: "cache_breakpoints on", body: conversation(hi, `"cache_control":{"type":"ephemeral"}`),
			want: asked(`{"role":"user","content":[{"type":"text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]}`),
		},
		// The part got two breakpoints, which is no JSON that anybody takes.
		{
			name: "cache_control behind a part that has one", traits: "cache_breakpoints on",
			body: conversation(`{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}`, `"cache_control":{"type":"ephemeral"}`),
			want: asked(`{"role":"user","content":[{"type":"text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]}`),
		},
		{
			name: "cache_control where the last message takes no breakpoint", traits: "cache_breakpoints on; prefill native",
			body: conversation(hi+`,{"role":"assistant","content":"a"}`, `"cache_control":{"type":"ephemeral"}`),
			want: asked(hi + `,{"role":"assistant","content":"a"}`), losses: "cache_control hint",
		},
		{name: "what is null is absent", body: conversation(hi, `"container":null,"thread":null,"tools":null,"system":null,"mcp_servers":[]`), want: asked(hi)},
		{name: "unknown fields", body: conversation(hi, `"foo":1,"b\u0000r":2`), want: asked(hi), losses: "foo hint, ? hint"},
		{name: "thread", body: conversation(hi, `"inference_geo":"eu","thread":{"type":"create"}`), fault: "thread:" + notM1 + "chat)"},
	})
}

func TestThreadsAreRefusedSoThatClientsGoOnWithoutThem(t *testing.T) {
	body := conversation(hi, `"thread":{"type":"create"}`)
	_, _, fault := pairs.Render(nil, translate.Messages, translate.Chat, []byte(body), &core.RequestInfo{Model: "m1"})
	require.NotNil(t, fault)
	want := `{"type":"error","error":{"type":"invalid_request_error","message":"thread: cannot be translated for model 'm1' (upstream format chat)","details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}},"request_id":"R"}`
	assert.Equal(t, want, string(formats.Of(translate.Messages).Errors.Append(nil, fault, "R")))
}

func TestTheWayBackRemembersTheMessagesRequest(t *testing.T) {
	c := renderCase{
		traits: "estimate_input_tokens on",
		body:   conversation(`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x/i.png"}},{"type":"text","text":"12345"}]}`, `"stop_sequences":["a\n"," "],"stream":true`),
	}
	_, r := renderCaseOf(t, translate.Messages, translate.Chat, c)
	assert.Equal(t, translate.AnswerContext{Stream: true, Cuts: translate.Cuts{Stops: []string{"a\n", " "}}, Input: translate.Input{Images: true, Media: true, Estimate: 1502}}, r.Answer)
}

func TestFaultsLeaveNothingBehind(t *testing.T) {
	info := &core.RequestInfo{Model: "m1", Upstream: "up"}
	for range 3 {
		_, _, fault := pairs.Render(nil, translate.Messages, translate.Chat, []byte(conversation(hi, `"container":"c"`)), info)
		require.NotNil(t, fault)
		out, r, fault := pairs.Render(nil, translate.Messages, translate.Chat, []byte(conversation(hi)), info)
		require.Nil(t, fault)
		assert.Equal(t, asked(hi), string(out))
		assert.Empty(t, r.Losses)
	}
}

func TestBodiesThatPassedNoStrictPassAreRefusedToo(t *testing.T) {
	info := &core.RequestInfo{Model: "m1", Upstream: "up"}
	for _, body := range []string{``, `{`, `[]`, `7`, `{"messages":[{"role":"user","content":"a"`, `{"messages":[1,{"role":"bot"}]}`, `{"messages":{}}`} {
		_, _, fault := pairs.Render(nil, translate.Messages, translate.Chat, []byte(body), info)
		assert.NotNil(t, fault, body)
	}
	assert.Panics(t, func() { _, _, _ = pairs.Render(nil, translate.Chat, translate.Chat, nil, info) })
	assert.False(t, pairs.CanTranslate(translate.Chat, translate.Chat))
	assert.True(t, pairs.CanTranslate(translate.Completions, translate.Messages))
}

package pairs_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// fuzzTraits are the traits that a fuzzed request may meet.
var fuzzTraits = []string{
	"",
	"alternation on; mid_system hoist; tool_content parts; prefill native; reasoning_effort on; reasoning_replay reasoning",
	"cache_breakpoints on; tool_images inline; files on; unsupported_tools drop; prefill vllm; sampling one; extensions top_k min_p service_tier",
	"alternation on; mid_system user; cache_breakpoints on; files on; prefill native; extensions chat_template_kwargs; user_field none",
	"suffix instruct; completion_system Go on.; sampling none; max_tokens_field max_completion_tokens; system_role developer; estimate_input_tokens on",
	"prompt_template chatml; mid_system hoist; extensions guided_json top_k; user_field safety_identifier",
	"template_guard on; unsupported_tools drop; extensions structured_outputs; mid_system user",
	"thinking_style budget; json_object refuse; mid_system keep; default_max_tokens 9000; extensions min_p",
	"thinking_style adaptive; unsupported_tools drop; image_url base64; anthropic_version 2026-10-21",
	"responses_reasoning encrypted; responses_item_ids on; cache_breakpoints on; custom_tools native; sampling all",
	"responses_reasoning text; reasoning_summary off; mid_system user; unsupported_tools drop; system_role developer; reasoning_effort off",
}

// fuzzRender feeds anything to a conversion. What the client's strict pass
// accepts must become a request that the provider's accepts, or be refused.
func fuzzRender(f *testing.F, source, target translate.Format) {
	for i, e := range exchanges {
		if body := requestsOf(f, e.name)[source]; body != nil {
			f.Add(body, byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, n byte) {
		info := &core.RequestInfo{Model: "m1", Upstream: "up", Traits: traitsOf(t, fuzzTraits[int(n)%len(fuzzTraits)]), Seals: sealer}
		out, r, fault := pairs.Render(nil, source, target, body, info)
		if _, refused := formats.Of(source).Requests.Inspect(body, translate.Generate); refused != nil || fault != nil {
			return
		}
		require.True(t, json.Valid(out), "%s", out)
		_, fault = formats.Of(target).Requests.Inspect(out, translate.Generate)
		require.Nil(t, fault, "%s", out)
		repeated, _, _ := pairs.Render(nil, source, target, body, info)
		require.Equal(t, string(out), string(repeated))
		if source == translate.Chat && target == translate.Messages && len(out) < 4096 {
			requireConversation(t, out)
		}
		for _, loss := range r.Losses {
			require.NotContains(t, loss.Path, "\n")
			requireBoundedName(t, source, loss)
		}
	})
}

func FuzzRequestMessagesToChat(f *testing.F) { fuzzMessages(f, translate.Chat) }

func FuzzRequestMessagesToResponses(f *testing.F) { fuzzMessages(f, translate.Responses) }

func fuzzMessages(f *testing.F, target translate.Format) {
	for i, seed := range []string{
		`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"document","title":"t","source":{"type":"content","content":[{"type":"text","text":"b"}]},"citations":{"enabled":true}}]}`,
		hi + `,` + hi + `,{"role":"system","content":"s","output_config":{"effort":"low"},"clear_at":"next_user_message"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},` + thought("t", sealedItem) + `,{"type":"text","text":"a"},{"type":"tool_use","id":"gwid1_YQ","name":"a b","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"u"}},{"type":"search_result","title":"t","source":"s","content":[{"type":"text","text":"c"}]},{"type":"tool_reference","tool_name":"f"}]},{"type":"text","text":"b"}]}`,
		hi + `,{"content":[{"text":"a","type":"text"}],"role":"assistant"}`,
	} {
		for j := range fuzzTraits {
			f.Add([]byte(conversation(seed, `"system":[{"type":"text","text":"s"}],"tools":[{"name":"f.g","input_schema":{},"strict":true},{"type":"bash_20250124"}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true},"thinking":{"type":"enabled","budget_tokens":2000},"output_config":{"format":{"type":"json_schema","schema":{}}},"top_k":1,"temperature":1,"top_p":1,"stop_sequences":["a"],"stream":true,"metadata":{"user_id":"u"},"cache_control":{"type":"ephemeral"},"min_p":1,"service_tier":"auto"`)), byte(i+j))
		}
	}
	fuzzRender(f, translate.Messages, target)
}

// completionSeeds are requests with all that the format has.
func completionSeeds(f *testing.F) {
	for i := range fuzzTraits {
		f.Add([]byte(`{"model":"m","prompt":["a\u00e9"],"max_tokens":1,"temperature":1.5,"top_p":1,"n":1,"best_of":1,"stream":true,"stream_options":{"include_usage":true},"stop":["a","\n"],"suffix":"x","echo":true,"presence_penalty":0,"frequency_penalty":1,"logit_bias":{"1":1},"seed":1,"user":"u@x","top_k":3,"min_p":1}`), byte(i))
		f.Add([]byte(`{"model":"m","prompt":"a","logprobs":2,"stop":"a"}`), byte(i))
	}
}

func FuzzRequestCompletionsToChat(f *testing.F) {
	completionSeeds(f)
	fuzzRender(f, translate.Completions, translate.Chat)
}

func FuzzRequestCompletionsToMessages(f *testing.F) {
	completionSeeds(f)
	fuzzRender(f, translate.Completions, translate.Messages)
}

// requireConversation requires what no request to a messages provider may lack,
// whatever the client has sent.
func requireConversation(t *testing.T, body []byte) {
	t.Helper()
	var r struct{ Messages []messagesTurn }
	require.NoError(t, json.Unmarshal(body, &r))
	role := ""
	for _, turn := range r.Messages {
		require.NotEqual(t, role, turn.Role, "%s", body)
		require.NotEmpty(t, turn.Content, "%s", body)
		role = turn.Role
	}
	require.LessOrEqual(t, bytes.Count(body, []byte(`"cache_control":{"type":"ephemeral"`)), 4+bytes.Count(body, []byte(`\"cache_control\"`)))
}

func FuzzRequestChatToMessages(f *testing.F) { fuzzChat(f, translate.Messages) }

func FuzzRequestChatToResponses(f *testing.F) { fuzzChat(f, translate.Responses) }

func fuzzChat(f *testing.F, target translate.Format) {
	for i, seed := range []string{
		`{"role":"system","content":"s"},` + hi + `,{"role":"developer","content":[` + textBlock("d") + `]},` + asksCall + `,` + resultF + `,` + bye,
		chatUser(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"5m"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA\n"}},{"type":"file","file":{"file_data":"data:text/plain;base64,YQ=="}}`) +
			`,{"role":"assistant","content":[` + textBlock("a ") + `,` + textBlock(" ") + `],"thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"redacted_thinking","data":"d"}]}`,
		hi + `,{"tool_calls":[{"id":"a:0","function":{"arguments":" \"{}\" ","name":"f"}}],"role":"assistant","reasoning_content":"r"},{"content":[` + textBlock("") + `],"role":"tool","tool_call_id":"a:0"}`,
	} {
		for j := range fuzzTraits {
			f.Add([]byte(talk(seed, `"tools":[{"type":"function","function":{"name":"f","parameters":{}},"cache_control":{}},{"type":"function","function":{"name":"g"}},{"type":"custom","custom":{"name":"h","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"d"}}}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}},"parallel_tool_calls":false,"reasoning_effort":"high","response_format":{"type":"json_schema","json_schema":{"schema":{}}},"temperature":1.5,"top_k":1,"stop":["a","\n"],"stream":true,"stream_options":{"include_usage":true},"user":"u@x","min_p":1,"service_tier":"default"`)), byte(i+j))
		}
	}
	fuzzRender(f, translate.Chat, target)
}

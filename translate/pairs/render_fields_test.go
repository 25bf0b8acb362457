package pairs_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// wireField is a field of a format with a value that asks for something.
type wireField struct{ name, value string }

// The fields of each object of the formats, the required ones left out that
// every request below has.
var (
	messagesFields = []wireField{
		{"system", `"s"`}, {"temperature", `0.5`}, {"top_p", `0.5`}, {"top_k", `5`}, {"stop_sequences", `["x"]`},
		{"stream", `true`}, {"tools", `[{"name":"g","input_schema":{}}]`}, {"thinking", `{"type":"enabled","budget_tokens":1024}`},
		{"metadata", `{"user_id":"u"}`}, {"output_config", `{"effort":"high"}`}, {"service_tier", `"auto"`},
		{"cache_control", `{"type":"ephemeral"}`}, {"container", `"c"`}, {"inference_geo", `"eu"`}, {"speed", `"fast"`},
		{"diagnostics", `{"previous_message_id":null}`}, {"thread", `{"type":"create"}`}, {"mcp_servers", `[{"url":"u"}]`},
		{"context_management", `{"edits":[]}`}, {"compaction", `{}`}, {"fallbacks", `["m"]`}, {"fallback_credit_token", `"t"`},
		{"billing_policy", `{}`}, {"output_format", `{"type":"json_schema","schema":{}}`}, {"tool_choice", `{"type":"any"}`},
		{"unheard_of", `1`},
	}
	completionsFields = []wireField{
		{"max_tokens", `5`}, {"temperature", `0.5`}, {"top_p", `0.5`}, {"n", `2`}, {"best_of", `2`}, {"stream", `true`},
		{"stop", `"x"`}, {"suffix", `"x"`}, {"echo", `true`}, {"logprobs", `1`}, {"presence_penalty", `1`},
		{"frequency_penalty", `1`}, {"logit_bias", `{"1":1}`}, {"seed", `1`}, {"user", `"u"`}, {"unheard_of", `1`},
	}
	chatFields = []wireField{
		{"max_tokens", `5`}, {"max_completion_tokens", `5`}, {"temperature", `0.5`}, {"top_p", `0.5`}, {"top_k", `5`}, {"n", `2`}, {"stop", `"x"`},
		{"stream", `true`}, {"presence_penalty", `1`}, {"frequency_penalty", `1`}, {"logit_bias", `{"1":1}`}, {"logprobs", `true`}, {"top_logprobs", `1`},
		{"seed", `1`}, {"verbosity", `"low"`}, {"prediction", `{"type":"content"}`}, {"tools", `[{"type":"function","function":{"name":"f"}}]`},
		{"functions", `[{"name":"f"}]`}, {"function_call", `"auto"`}, {"response_format", `{"type":"json_object"}`}, {"reasoning_effort", `"high"`},
		{"user", `"u"`}, {"safety_identifier", `"u"`}, {"service_tier", `"auto"`}, {"modalities", `["audio"]`}, {"audio", `{}`}, {"web_search_options", `{}`},
		{"metadata", `{}`}, {"store", `true`}, {"prompt_cache_key", `"k"`}, {"moderation", `{}`}, {"unheard_of", `1`},
	}
	chatTurnFields = map[string][]wireField{
		`{"role":"user","content":"hi"`: {{"name", `"n"`}, {"unheard_of", `1`}},
		`{"role":"assistant","content":"a"`: {
			{"refusal", `"r"`}, {"audio", `{}`}, {"function_call", `{"name":"f","arguments":"{}"}`}, {"reasoning_content", `"r"`}, {"reasoning", `"r"`},
			{"thinking_blocks", `[{"type":"thinking","thinking":"t","signature":"s"}]`}, {"tool_calls", `[{"id":"c","function":{"name":"f","arguments":"{}"}}]`}, {"unheard_of", `1`},
		},
		`{"role":"tool","tool_call_id":"c","content":"r"`: {{"name", `"n"`}, {"unheard_of", `1`}},
	}
	// What must be there stands in the object, which closes with what follows.
	chatPartFields = map[[2]string][]wireField{
		{`{"role":"user","content":[{"type":"text","text":"a"`, `}]}`}:                           {{"cache_control", `{}`}, {"prompt_cache_breakpoint", `{}`}, {"unheard_of", `1`}},
		{`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"`, `}}]}`}: {{"detail", `"low"`}, {"unheard_of", `1`}},
		{`{"role":"user","content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,A"`, `}}]}`}: {
			{"filename", `"f"`}, {"file_id", `"f"`}, {"unheard_of", `1`},
		},
		{`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}`, `}]}`}:                   {{"type", `"custom"`}, {"cache_control", `{}`}, {"index", `0`}},
		{`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"`, `}}]}`}:                   {{"unheard_of", `1`}},
		{`{"role":"assistant","content":"a","thinking_blocks":[{"type":"thinking","thinking":"t","signature":"s"`, `}]}`}: {{"unheard_of", `1`}},
	}
	toolFields = []wireField{
		{"type", `"computer_20250124"`}, {"description", `"d"`}, {"strict", `true`}, {"cache_control", `{}`}, {"defer_loading", `true`},
		{"allowed_callers", `["code_execution_20250825"]`}, {"input_examples", `[]`}, {"eager_input_streaming", `true`}, {"unheard_of", `1`},
	}
	// What must be there stands in the block, what may be added behind it.
	blockFields = map[string][]wireField{
		`{"type":"text","text":"a"`:                         {{"cache_control", `{}`}, {"citations", `[{}]`}, {"unheard_of", `1`}},
		`{"type":"image","source":{"type":"url","url":"u"}`: {{"cache_control", `{}`}, {"transformations", `[]`}, {"unheard_of", `1`}},
		`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}`: {
			{"title", `"t"`}, {"context", `"c"`}, {"citations", `{"enabled":true}`}, {"cache_control", `{}`}, {"unheard_of", `1`},
		},
		`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]`: {
			{"citations", `{"enabled":true}`}, {"cache_control", `{}`}, {"unheard_of", `1`},
		},
		`{"type":"tool_result","tool_use_id":"c1"`: {
			{"content", `"r"`}, {"is_error", `true`}, {"toolset_name", `"t"`}, {"cache_control", `{}`}, {"unheard_of", `1`},
		},
	}
	assistantFields = map[string][]wireField{
		`{"type":"tool_use","id":"c1","name":"f","input":{}`: {{"caller", `{}`}, {"toolset_name", `"t"`}, {"cache_control", `{}`}, {"unheard_of", `1`}},
		`{"type":"text","text":"a"`:                          {{"cache_control", `{}`}, {"citations", `[{}]`}, {"unheard_of", `1`}},
		`{"type":"thinking","thinking":"t","signature":"s"`:  {{"unheard_of", `1`}},
	}
)

// fate says what became of a field: kept, lost, refused, or nothing at all.
func fate(t *testing.T, to translate.Format, name, without, with string) string {
	t.Helper()
	from := translate.Messages
	switch {
	case strings.Contains(without, `"prompt"`):
		from = translate.Completions
	case to == translate.Messages:
		from = translate.Chat
	}
	render := func(body string) (string, translate.Rendered, *translate.Fault) {
		_, fault := pairs.For(from).Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		out, r, fault := pairs.Render(nil, from, to, []byte(body), &translate.RequestInfo{Model: "m1", Upstream: "up"})
		return string(out), r, fault
	}
	before, rb, fault := render(without)
	require.Nil(t, fault)
	after, ra, fault := render(with)
	switch {
	case fault != nil:
		return "refused"
	case len(ra.Losses) > len(rb.Losses):
		assert.Contains(t, ra.Losses[len(ra.Losses)-1].Path+ra.Losses[0].Path, name)
		return "lost"
	case before != after, !reflect.DeepEqual(ra.Memory, rb.Memory), ra.Calls() != rb.Calls():
		return "kept"
	}
	return "nothing"
}

func assertNoSilence(t *testing.T, to translate.Format, fields []wireField, body func(field string) string) {
	t.Helper()
	for _, f := range fields {
		if f.name == "tool_choice" { // which says nothing without tools
			body := func(field string) string { return body(`,"tools":[{"name":"g"}]` + field) }
			assert.NotEqual(t, "nothing", fate(t, to, f.name, body(""), body(`,"`+f.name+`":`+f.value)), f.name)
			continue
		}
		got := fate(t, to, f.name, body(""), body(`,"`+f.name+`":`+f.value))
		assert.NotEqual(t, "nothing", got, "%s of %s", f.name, body(""))
		if f.name == "unheard_of" {
			assert.Equal(t, "lost", got, body(""))
		}
	}
}

func TestNoFieldIsDroppedInSilence(t *testing.T) {
	assertNoSilence(t, translate.Chat, messagesFields, func(field string) string {
		return `{"model":"m1","max_tokens":10,"messages":[` + hi + `]` + field + `}`
	})
	assertNoSilence(t, translate.Chat, toolFields, func(field string) string {
		return conversation(hi, `"tools":[{"name":"f","input_schema":{"type":"object"}`+field+`}]`)
	})
	assertNoSilence(t, translate.Chat, []wireField{{"output_config", `{"effort":"low"}`}, {"clear_at", `"next_user_message"`}, {"unheard_of", `1`}}, func(field string) string {
		return conversation(hi + `,{"role":"system","content":"s"` + field + `},` + hi)
	})
	for block, fields := range blockFields {
		assertNoSilence(t, translate.Chat, fields, func(field string) string {
			return conversation(`{"role":"user","content":[` + block + field + `}]}`)
		})
	}
	for block, fields := range assistantFields {
		assertNoSilence(t, translate.Chat, fields, func(field string) string {
			return conversation(hi + `,{"role":"assistant","content":[` + block + field + `}]},` + hi)
		})
	}
	// A choice says nothing without tools, which are refused.
	choiceless := slices.DeleteFunc(slices.Clone(messagesFields), func(f wireField) bool { return f.name == "tool_choice" })
	assertNoSilence(t, translate.Completions, choiceless, func(field string) string {
		return `{"model":"m1","max_tokens":10,"messages":[` + hi + `]` + field + `}`
	})
	assertNoSilence(t, translate.Completions, []wireField{{"output_config", `{"effort":"low"}`}, {"clear_at", `"next_user_message"`}, {"unheard_of", `1`}}, func(field string) string {
		return conversation(hi + `,{"role":"system","content":"s"` + field + `},` + hi)
	})
	assertNoSilence(t, translate.Completions, []wireField{{"cache_control", `{}`}, {"citations", `[{}]`}, {"unheard_of", `1`}}, func(field string) string {
		return conversation(`{"role":"user","content":[{"type":"text","text":"a"` + field + `}]}`)
	})
	assertNoSilence(t, translate.Messages, chatFields, func(field string) string {
		return `{"model":"m1","messages":[` + hi + `]` + field + `}`
	})
	for turn, fields := range chatTurnFields {
		assertNoSilence(t, translate.Messages, fields, func(field string) string { return talk(turn + field + `}`) })
	}
	for part, fields := range chatPartFields {
		assertNoSilence(t, translate.Messages, fields, func(field string) string { return talk(hi + `,` + part[0] + field + part[1] + `,` + hi) })
	}
	for _, f := range []string{`"description":"d"`, `"parameters":{}`, `"strict":true`, `"unheard_of":1`} {
		name, _, _ := strings.Cut(f[1:], `"`)
		tool := func(field string) string {
			return talk(hi, `"tools":[{"type":"function","function":{"name":"f"`+field+`}}]`)
		}
		assert.NotEqual(t, "nothing", fate(t, translate.Messages, name, tool(""), tool(","+f)), name)
	}
	for _, to := range []translate.Format{translate.Chat, translate.Messages} {
		assertNoSilence(t, to, completionsFields, func(field string) string {
			return `{"model":"m1","prompt":"hi"` + field + `}`
		})
	}
}

// TestEveryMemberThatIsReadIsInTheTables fails for a member that a conversion
// could read and that the test above does not know.
func TestEveryMemberThatIsReadIsInTheTables(t *testing.T) {
	known := map[string]bool{}
	for _, name := range strings.Fields("model messages max_tokens prompt stream_options type text source name input id tool_use_id tool_name thinking signature data input_schema media_type url") {
		known[name] = true
	}
	for _, name := range strings.Fields("role content tool_call_id image_url file url file_data function arguments parameters parallel_tool_calls refusal") {
		known[name] = true
	}
	tables := [][]wireField{chatFields, messagesFields, completionsFields, toolFields, {{name: "clear_at"}}}
	for _, more := range []map[string][]wireField{blockFields, assistantFields, chatTurnFields} {
		for _, fields := range more {
			tables = append(tables, fields)
		}
	}
	for _, fields := range chatPartFields {
		tables = append(tables, fields)
	}
	for _, fields := range tables {
		for _, f := range fields {
			known[f.name] = true
		}
	}
	for _, wire := range []any{messages.Request{}, messages.Message{}, messages.Block{}, messages.Source{}, messages.Tool{}, completions.Request{}, chat.Request{}, chat.Message{}, chat.Part{}, chat.Media{}, chat.Tool{}, chat.Function{}} {
		typ := reflect.TypeOf(wire)
		for i := range typ.NumField() {
			name := typ.Field(i).Tag.Get("member")
			assert.NotEmpty(t, name, "%s.%s", typ, typ.Field(i).Name)
			assert.True(t, known[name], "%s.%s", typ, name)
		}
	}
}

package request_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

var inspect = translatetest.Inspect(request.Inspect)

// requestWith returns a valid request with further members at its end.
func requestWith(members string) string { return `{"model":"m1","input":"hi",` + members + `}` }

// items is a request with these items for its input.
func items(items string) string { return `{"model":"m1","input":[` + items + `]}` }

const (
	roles = "must be 'user', 'assistant', 'system' or 'developer'"
	parts = "must be a string or an array of content parts"
	once  = "must appear once, letter case ignored"
)

// refused are bodies and what a client reads of them: the path, which the body of
// the answer repeats, and what is required.
var refused = []struct{ name, body, path, what string }{
	// Repeated members.
	{"model twice", `{"model":"a","model":"b"}`, "model", once},
	{"model in other case", `{"Model":"a","model":"b"}`, "Model", once},
	{"in an item", items(`{"role":"user","content":"a"},{"role":"user","role":"system"}`), "input[1].role", once},
	{"in a part", items(`{"role":"user","content":[{"type":"input_text","text":"a","text":"b"}]}`), "input[0].content[0].text", once},
	{"in a part's breakpoint", items(`{"role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","mode":"x"}}]}`), "input[0].content[0].prompt_cache_breakpoint.mode", once},
	{"in a result", items(`{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a","text":"b"}]}`), "input[0].output[0].text", once},
	{"in a summary", items(`{"type":"reasoning","summary":[{"type":"summary_text","text":"a","text":"b"}]}`), "input[0].summary[0].text", once},
	{"in an item of an unknown type", items(`{"type":"new_item","name":"a","name":"b"}`), "input[0].name", once},
	{"in a tool", requestWith(`"tools":[{"type":"function","type":"custom"}]`), "tools[0].type", once},
	{"in a tool's format", requestWith(`"tools":[{"type":"custom","format":{"syntax":"lark","syntax":"regex"}}]`), "tools[0].format.syntax", once},
	{"in a tool of a namespace", requestWith(`"tools":[{"type":"namespace","tools":[{"type":"function","name":"a","name":"b"}]}]`), "tools[0].tools[0].name", once},
	{"in a tool that came late", items(`{"type":"additional_tools","tools":[{"type":"function","name":"a","name":"b"}]}`), "input[0].tools[0].name", once},
	{"in reasoning", requestWith(`"reasoning":{"effort":"low","effort":"high"}`), "reasoning.effort", once},
	{"in text", requestWith(`"text":{"format":{},"format":{}}`), "text.format", once},
	{"in text's format", requestWith(`"text":{"format":{"type":"text","type":"json_object"}}`), "text.format.type", once},
	{"in tool_choice", requestWith(`"tool_choice":{"type":"function","name":"a","name":"b"}`), "tool_choice.name", once},
	{"in conversation", requestWith(`"conversation":{"id":"a","id":"b"}`), "conversation.id", once},
	{"in prompt", requestWith(`"prompt":{"id":"a","id":"b"}`), "prompt.id", once},
	{"in stream_options", requestWith(`"stream_options":{"include_obfuscation":true,"include_obfuscation":false}`), "stream_options.include_obfuscation", once},

	// The order.
	{"a repeated member behind a bad field", `{"max_output_tokens":0,"model":"a","model":"b"}`, "model", once},
	{"fields by their table", `{"include":1,"tools":1,"max_output_tokens":0,"input":[],"model":1}`, "model", "must be a non-empty string, got number"},
	{"input before numbers", `{"max_output_tokens":0,"input":[],"model":"m"}`, "input", "must hold at least one item"},
	{"members of an item by their table", items(`{"arguments":1,"name":2,"call_id":3,"type":"function_call"}`), "input[0].call_id", "must be a string, got number"},
	{"an earlier item before a later one", items(`{"role":"user","content":1},{"role":"x","content":"a"}`), "input[0].content", parts + ", got number"},

	// model and input
	{"no model", `{"input":"a"}`, "model", "required"},
	{"an empty model", `{"model":""}`, "model", "must be a non-empty string"},
	{"a long model", `{"model":"` + strings.Repeat("m", 257) + `"}`, "model", "must be at most 256 bytes long"},
	{"a model that changes terminals", `{"model":"m\u001b[31m"}`, "model", "must have no control characters"},
	{"no input", `{"model":"m"}`, "input", "required"},
	{"null input", `{"model":"m","input":null}`, "input", "required"},
	{"a chat body", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, "input", "required"},
	{"a number for input", `{"model":"m","input":1}`, "input", "must be a string or an array of items, got number"},
	{"no item", items(``), "input", "must hold at least one item"},
	{"100001 items", items(strings.Repeat(`{"role":"user","content":"a"},`, 100_000) + `{"role":"user","content":"a"}`), "input", "must hold at most 100000 items"},
	{"a string for an item", items(`"hi"`), "input[0]", "must be an object"},
	{"an item without type and role", items(`{"content":"a"}`), "input[0].type", "required"},
	{"an item of a null type without role", items(`{"type":null,"id":"msg_1"}`), "input[0].type", "required"},
	{"an item of a type that is a number", items(`{"type":1,"role":"user"}`), "input[0].type", "must be a string, got number"},
	{"a role that is a number", items(`{"role":1,"content":"a"}`), "input[0].role", "must be a string, got number"},
	{"an unknown role", items(`{"role":"tool","content":"a"}`), "input[0].role", roles + ", got 'tool'"},
	{"an unknown role in front of the type", items(`{"role":"tool","content":"a","type":"message"}`), "input[0].role", roles + ", got 'tool'"},
	{"a message without role", items(`{"type":"message","content":"a"}`), "input[0].role", "required"},
	{"a message without content", items(`{"role":"user"}`), "input[0].content", "required"},
	{"a message of null content", items(`{"role":"assistant","content":null}`), "input[0].content", "required"},
	{"a message whose content is an object", items(`{"role":"user","content":{}}`), "input[0].content", parts + ", got object"},
	{"a string in content", items(`{"role":"user","content":["a"]}`), "input[0].content[0]", "must be an object"},
	{"a part without type", items(`{"role":"user","content":[{"text":"a"}]}`), "input[0].content[0].type", "required"},
	{"a call without call_id", items(`{"type":"function_call","name":"f","arguments":"{}"}`), "input[0].call_id", "required"},
	{"a call without name", items(`{"type":"function_call","call_id":"c","arguments":"{}"}`), "input[0].name", "required"},
	{"a call whose arguments are an object", items(`{"type":"function_call","call_id":"c","name":"f","arguments":{}}`), "input[0].arguments", "must be a string, got object"},
	{"a free call without input", items(`{"type":"custom_tool_call","call_id":"c","name":"f"}`), "input[0].input", "required"},
	{"a result without output", items(`{"type":"function_call_output","call_id":"c"}`), "input[0].output", "required"},
	{"a result that is an object", items(`{"type":"custom_tool_call_output","call_id":"c","output":{}}`), "input[0].output", parts + ", got object"},
	{"reasoning without summary", items(`{"type":"reasoning","encrypted_content":"x"}`), "input[0].summary", "required"},
	{"reasoning whose summary is a text", items(`{"type":"reasoning","summary":"x"}`), "input[0].summary", "must be an array, got string"},
	{"late tools that are none", items(`{"type":"additional_tools","tools":{}}`), "input[0].tools", "must be an array, got object"},
	{"a late tool without type", items(`{"type":"tool_search_output","tools":[{"name":"f"}]}`), "input[0].tools[0].type", "required"},
	{"a reference without id", items(`{"type":"item_reference"}`), "input[0].id", "required"},

	// The other fields.
	{"instructions as parts", requestWith(`"instructions":[]`), "instructions", "must be a string"},
	{"max_output_tokens 0", requestWith(`"max_output_tokens":0`), "max_output_tokens", "must be an integer of at least 1, got 0"},
	{"max_output_tokens as a string", requestWith(`"max_output_tokens":"16"`), "max_output_tokens", "must be an integer of at least 1, got string"},
	{"temperature as a string", requestWith(`"temperature":"1"`), "temperature", "must be a number, got string"},
	{"top_p true", requestWith(`"top_p":true`), "top_p", "must be a number, got boolean"},
	{"top_logprobs 1.5", requestWith(`"top_logprobs":1.5`), "top_logprobs", "must be an integer"},
	{"stream as a string", requestWith(`"stream":"true"`), "stream", "must be a boolean, got string"},
	{"store 0", requestWith(`"store":0`), "store", "must be a boolean, got number"},
	{"background as a string", requestWith(`"background":"yes"`), "background", "must be a boolean, got string"},
	{"parallel_tool_calls 1", requestWith(`"parallel_tool_calls":1`), "parallel_tool_calls", "must be a boolean, got number"},
	{"previous_response_id as a number", requestWith(`"previous_response_id":1`), "previous_response_id", "must be a string"},
	{"conversation as a number", requestWith(`"conversation":1`), "conversation", "must be a string or an object, got number"},
	{"prompt as a string", requestWith(`"prompt":"p"`), "prompt", "must be an object"},
	{"tools as an object", requestWith(`"tools":{}`), "tools", "must be an array of objects"},
	{"a string for a tool", requestWith(`"tools":["f"]`), "tools[0]", "must be an object"},
	{"a tool without type", requestWith(`"tools":[{"name":"f"}]`), "tools[0].type", "required"},
	{"reasoning as a word", requestWith(`"reasoning":"high"`), "reasoning", "must be an object"},
	{"text as a word", requestWith(`"text":"json"`), "text", "must be an object"},
	{"include as a word", requestWith(`"include":"a"`), "include", "must be an array of strings"},
	{"include with a number", requestWith(`"include":["a",1]`), "include[1]", "must be a string"},
	{"metadata as an array", requestWith(`"metadata":[]`), "metadata", "must be an object"},
	{"stream_options true", requestWith(`"stream_options":true`), "stream_options", "must be an object"},
}

func TestInspectRefusesWithTheExactSentenceAndParam(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) { inspect.Refuses(t, tt.body, tt.path, tt.what) })
	}
}

func TestInspectReportsThePositionOfInvalidJSON(t *testing.T) {
	inspect.LocatesInvalidJSON(t,
		`{"model":‸}`, `{"input":[{‸]`, `{‸,}`, items(`{"role":"user","content":"a"}`)+"‸x", "{\"x\":\"‸\xff\"}",
		requestWith(`"top_p":‸00`), requestWith(`"include":["a"‸`),
	)
}

// accepted are bodies that pass, each for the reason that its name gives.
var accepted = []struct{ name, body string }{
	{"a byte order mark", "\ufeff" + requestWith(`"x":1`)},
	{"a text for input", requestWith(`"x":1`)},
	{"every role, with and without a type", items(`{"role":"system","content":"a"},{"role":"developer","content":"a"},{"type":"message","role":"user","content":"a"},{"type":null,"role":"assistant","content":[]}`)},
	{"parts of all kinds", items(`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:,","detail":"auto"},{"type":"input_file","file_id":"f"},{"type":"new_part"}]}`)},
	{"parts of the model", items(`{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation"}]},{"type":"refusal","refusal":"no"},{"type":"input_text","text":"b"}]}`)},
	{"calls and results", items(`{"type":"function_call","call_id":"c","name":"f","arguments":"{","id":"fc_1","namespace":"n"},{"type":"function_call_output","call_id":"c","output":"a"},{"type":"custom_tool_call","call_id":"d","name":"g","input":""},{"type":"custom_tool_call_output","call_id":"d","output":[{"type":"input_image","image_url":"data:,"}]}`)},
	{"reasoning", items(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null},{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}]}`)},
	{"late tools", items(`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f","parameters":{"a":1,"a":2}}]},{"type":"tool_search_output","tools":[]}`)},
	{"items of other types", items(`{"type":"web_search_call","action":{"query":1}},{"type":"compaction_trigger"},{"type":"new_item","role":7,"content":[1],"tools":5,"summary":"s"}`)},
	{"tools of all types", requestWith(`"tools":[{"type":"function","name":"f","parameters":{},"strict":true},{"type":"custom","name":"g","format":{"type":"grammar","syntax":"lark","definition":"x"}},{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"f"},7]},{"type":"web_search"},{"type":"new_tool","tools":5,"format":"x"}]`)},
	{"nulls for all that is optional", requestWith(`"instructions":null,"tools":null,"max_output_tokens":null,"temperature":null,"top_p":null,"stream":null,"store":null,"include":null,"reasoning":null,"text":null,"metadata":null,"stream_options":null,"previous_response_id":null,"conversation":null,"prompt":null,"background":null,"tool_choice":null,"parallel_tool_calls":null,"top_logprobs":null`)},
	{"values beyond public bounds", requestWith(`"temperature":9,"top_p":5,"max_output_tokens":1,"top_logprobs":999,"reasoning":{"effort":"most"},"text":{"verbosity":"x","format":{"type":"y"}},"include":["new"]`)},
	{"a tool_choice that is a word", requestWith(`"tool_choice":"auto"`)},
	{"unknown fields", requestWith(`"client_metadata":{"a":1,"a":2},"n":"x"`)},
	{"integers in other notations", requestWith(`"max_output_tokens":1.6e1`)},
	{"an earlier response in place of input", `{"model":"m","previous_response_id":"resp_1"}`},
	{"a conversation in place of items", `{"model":"m","conversation":{"id":"c"},"input":[]}`},
	{"a prompt in place of input", `{"model":"m","prompt":{"id":"p"}}`},
}

func TestInspectAcceptsWhatTheProviderMayJudge(t *testing.T) {
	for _, tt := range accepted {
		t.Run(tt.name, func(t *testing.T) {
			_, fault := request.Inspect([]byte(tt.body), translate.Generate)
			assert.Nil(t, fault)
		})
	}
}

func TestTheViewOfARequest(t *testing.T) {
	body := requestWith(`"max_output_tokens":64,"stream":true `)
	view, fault := request.Inspect([]byte(body), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, translate.View{
		Model: "m1", ModelSpan: translate.Span{Start: 9, End: 13}, Stream: true, MaxTokens: 64, StreamUsage: translate.StreamUsage{End: len(body) - 1},
	}, view)
}

// Only the ids of responses and of conversations show their owner when they are sealed. Of what a
// request names otherwise, the owner is not known.
func TestTheViewHasTheIDsOfStoredObjects(t *testing.T) {
	for body, want := range map[string]struct {
		ids     string
		unowned string
	}{
		requestWith(`"previous_response_id" : "resp_1" `):                             {ids: `resp_ "resp_1"`},
		requestWith(`"conversation":"conv_1","previous_response_id":"resp_é"`):        {ids: `conv_ "conv_1" resp_ "resp_é"`},
		requestWith(`"conversation": {"x":{"id":"no"}, "id" :"conv_1"}`):              {ids: `conv_ "conv_1"`},
		requestWith(`"conversation":{}`):                                              {},
		requestWith(`"previous_response_id":null`):                                    {},
		requestWith(`"prompt":{"id":"p"}`):                                            {unowned: "prompt"},
		items(`{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}`): {unowned: "input[1].type"},
	} {
		view, fault := request.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		var ids []string
		for _, id := range view.Beyond.ObjectIDs() {
			ids = append(ids, id.Kind, body[id.Span.Start:id.Span.End])
		}
		assert.Equal(t, want.ids, strings.Join(ids, " "), body)
		unowned := ""
		if r := view.Beyond.References; r != nil {
			unowned = r.Unowned
		}
		assert.Equal(t, want.unowned, unowned, body)
	}
}

// A request that asks for a stored answer was cached, hedged and mirrored like one that leaves it to the provider.
func TestTheViewShowsWhetherTheAnswerIsStored(t *testing.T) {
	for store, want := range map[string][2]bool{`"store":false`: {false, true}, `"store":true`: {true, false}, `"store":null`: {}, `"user":"u"`: {}} {
		view, fault := request.Inspect([]byte(requestWith(store)), translate.Generate)
		require.Nil(t, fault, store)
		assert.Equal(t, want, [2]bool{view.Beyond.Stored, view.Beyond.Unstored}, store)
	}
}

// TestTheViewNamesTheFirstFieldThatNeedsState ensures that the gateway can refuse
// what only the provider that kept an earlier response could answer.
func TestTheViewNamesTheFirstFieldThatNeedsState(t *testing.T) {
	for body, path := range map[string]string{
		requestWith(`"previous_response_id":"resp_1"`):                                "previous_response_id",
		requestWith(`"conversation":"conv_1"`):                                        "conversation",
		requestWith(`"conversation":{"id":"conv_1"}`):                                 "conversation",
		requestWith(`"prompt":{"id":"p"}`):                                            "prompt",
		requestWith(`"background":true`):                                              "background",
		requestWith(`"background":true,"prompt":{"id":"p"}`):                          "background",
		items(`{"role":"user","content":"a"},{"type":"item_reference","id":"msg_1"}`): "input[1].type",
		requestWith(`"previous_response_id":null,"background":false,"store":true`):    "",
		items(`{"type":"compaction","encrypted_content":"x"}`):                        "",
	} {
		view, fault := request.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		assert.Equal(t, path, view.Beyond.State, body)
		assert.Equal(t, strings.Contains(body, `"background":true`), view.Beyond.Background, body)
	}
	refusal := fault.NeedsState("previous_response_id")
	assert.Equal(t, "previous_response_id: this gateway keeps no responses: set store to false, and send the whole conversation as input", refusal.Message)
	assert.Equal(t, "previous_response_id", refusal.Param)
	assert.Equal(t, "unsupported_for_upstream", refusal.Code)
	assert.Equal(t, 400, refusal.Status())
}

const (
	hello  = `{"role":"user","content":"a"}`
	sealed = `{"type":"reasoning","summary":[],"encrypted_content":"gwth1:k.t.eyJ0eXBlIjoidGhpbmtpbmcifQ"}`
	vendor = `{"type":"reasoning","summary":[],"encrypted_content":"gAAAAABo"}`
)

// TestTheViewCutsReasoningOfOtherFormats ensures that reasoning which this gateway
// sealed for a provider of another format can be taken out of the bytes that one
// of this format gets.
func TestTheViewCutsReasoningOfOtherFormats(t *testing.T) {
	for body, want := range map[string]string{
		items(hello + `,` + sealed + ` , ` + hello): items(hello + ` , ` + hello),
		items(sealed + `,` + sealed + `,` + hello):  items(hello),
		items(hello + `,` + vendor + `,` + sealed):  items(hello + `,` + vendor),
		items(sealed): items(``),
		items(hello + `,{"type":"message","role":"user","content":"gwth1:"}`): items(hello + `,{"type":"message","role":"user","content":"gwth1:"}`),
		items(`{"type":"compaction","encrypted_content":"gwth1:x"}`):          items(`{"type":"compaction","encrypted_content":"gwth1:x"}`),
	} {
		view, fault := request.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		assert.Equal(t, want, string(translatetest.Without([]byte(body), view.SelfSigned)), body)
	}
}

func TestEncryptedReasoningCanBeTakenOut(t *testing.T) {
	for body, want := range map[string]string{
		items(hello + `,` + vendor + ` , ` + hello): items(hello + ` , ` + hello),
		items(sealed + `,` + vendor + `,` + hello):  items(hello),
		items(vendor): items(``),
		items(hello + `,{"type":"reasoning","summary":[],"encrypted_content":null}`): items(hello + `,{"type":"reasoning","summary":[],"encrypted_content":null}`),
		items(`{"type":"compaction","encrypted_content":"gA"}`):                      items(`{"type":"compaction","encrypted_content":"gA"}`),
		`{"model":"m","input":"encrypted_content"}`:                                  `{"model":"m","input":"encrypted_content"}`,
	} {
		assert.Equal(t, want, string(translatetest.Without([]byte(body), request.Encrypted([]byte(body)))), body)
	}
}

func FuzzInspect(f *testing.F) {
	bodies := []string{items(sealed + `,` + hello + `,` + sealed)}
	for _, tt := range accepted {
		bodies = append(bodies, tt.body)
	}
	for _, tt := range refused {
		bodies = append(bodies, tt.body)
	}
	translatetest.Requests{Inspect: request.Inspect, Operation: translate.Generate}.Fuzz(f, bodies)
}

package request_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

var inspect = translatetest.Inspect(request.Inspect)

// with returns a valid request with further members at its end.
func with(members string) string {
	return `{"model":"m1","messages":[{"role":"user","content":"hi"}],` + members + `}`
}

// turn is a request with one message, or several.
func turn(message string) string {
	return `{"model":"m1","messages":[` + message + `]}`
}

// call is a request whose assistant made one call.
func call(c string) string {
	return turn(`{"role":"assistant","content":null,"tool_calls":[` + c + `]}`)
}

const (
	roles = "must be 'system', 'developer', 'user', 'assistant', 'tool' or 'function'"
	parts = "must be a string or an array of content parts"
	once  = "must appear once, letter case ignored"
)

// refused lists invalid bodies with the error: the path of the field, which the error
// body repeats, and the requirement.
var refused = []struct{ name, body, path, what string }{
	// Repeated members.
	{"model twice", `{"model":"a","model":"b"}`, "model", once},
	{"model in other case", `{"Model":"a","model":"b"}`, "Model", once},
	{"model behind an escape", `{"model":"a","mod\u0065l":"b"}`, "model", once},
	{"in a message", turn(`{"role":"user","content":"a"},{"role":"user","ROLE":"tool"}`), "messages[1].role", once},
	{"in a part", turn(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"a","text":"b"}]}`), "messages[0].content[1].text", once},
	{"in an image", turn(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"a","url":"b"}}]}`), "messages[0].content[0].image_url.url", once},
	{"in an audio part", turn(`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"a","data":"b"}}]}`), "messages[0].content[0].input_audio.data", once},
	{"in a file", turn(`{"role":"user","content":[{"type":"file","file":{"file_id":"a","file_id":"b"}}]}`), "messages[0].content[0].file.file_id", once},
	{"in a call", call(`{"id":"a","id":"b"}`), "messages[0].tool_calls[0].id", once},
	{"in a call's function", call(`{"id":"a","function":{"name":"f","Name":"g"}}`), "messages[0].tool_calls[0].function.name", once},
	{"in a custom call", call(`{"id":"a","type":"custom","custom":{"name":"f","name":"g"}}`), "messages[0].tool_calls[0].custom.name", once},
	{"in a function_call", turn(`{"role":"assistant","function_call":{"name":"f","name":"g"}}`), "messages[0].function_call.name", once},
	{"in a tool", with(`"tools":[{"type":"function","type":"custom"}]`), "tools[0].type", once},
	{"in a tool's function", with(`"tools":[{"type":"function","function":{"name":"a","name":"b"}}]`), "tools[0].function.name", once},
	{"in stream_options", with(`"stream_options":{"include_usage":true,"include_usage":false}`), "stream_options.include_usage", once},
	{"in response_format", with(`"response_format":{"type":"text","type":"json_object"}`), "response_format.type", once},
	{"in a JSON schema's frame", with(`"response_format":{"type":"json_schema","json_schema":{"name":"a","name":"b"}}`), "response_format.json_schema.name", once},
	{"in tool_choice", with(`"tool_choice":{"type":"function","function":{"name":"a","name":"b"}}`), "tool_choice.function.name", once},
	{"in metadata", with(`"metadata":{"a":"1","A":"2","A":"3"}`), "metadata.A", "must appear once"},
	{"in the top-level function_call", with(`"function_call":{"name":"a","name":"b"}`), "function_call.name", once},

	// The order.
	{"a repeated member behind a bad field", `{"n":0,"model":"a","model":"b"}`, "model", once},
	{"fields by their table", `{"stop":1,"tools":1,"n":0,"max_tokens":0,"messages":[],"model":1}`, "model", "must be a non-empty string, got number"},
	{"messages before numbers", `{"n":0,"messages":[],"model":"m"}`, "messages", "must hold at least one message"},
	{"role before content", turn(`{"content":1,"role":"x"}`), "messages[0].role", roles + ", got 'x'"},
	{"content before its parts", turn(`{"role":"tool","content":[{"type":1}]}`), "messages[0].content[0].type", "must be a string, got number"},
	{"parts before calls", turn(`{"role":"assistant","tool_calls":[1],"content":[1]}`), "messages[0].content[0]", "must be an object"},

	// model and messages
	{"no model", `{"messages":[{"role":"user","content":"a"}]}`, "model", "required"},
	{"a null model", `{"model":null}`, "model", "required"},
	{"an empty model", `{"model":""}`, "model", "must be a non-empty string"},
	{"a long model", `{"model":"` + strings.Repeat("m", 257) + `"}`, "model", "must be at most 256 bytes long"},
	{"a model that changes terminals", `{"model":"m\u001b[31m"}`, "model", "must have no control characters"},
	{"no messages", `{"model":"m"}`, "messages", "required"},
	{"null messages", `{"model":"m","messages":null}`, "messages", "required"},
	{"a string of messages", `{"model":"m","messages":"a"}`, "messages", "must be an array, got string"},
	{"no message", `{"model":"m","messages":[]}`, "messages", "must hold at least one message"},
	{"100001 messages", turn(strings.Repeat(`{"role":"user","content":"a"},`, 100_000) + `{"role":"user","content":"a"}`), "messages", "must hold at most 100000 messages"},
	{"a string for a message", turn(`"hi"`), "messages[0]", "must be an object"},
	{"no role", turn(`{"content":"a"}`), "messages[0].role", "required"},
	{"a null role", turn(`{"role":null,"content":"a"}`), "messages[0].role", "required"},
	{"an unknown role", turn(`{"role":"model","content":"a"}`), "messages[0].role", roles + ", got 'model'"},
	{"a number for a role", turn(`{"role":1,"content":"a"}`), "messages[0].role", roles + ", got number"},
	{"a user without content", turn(`{"role":"user"}`), "messages[0].content", "required"},
	{"a user with null content", turn(`{"role":"user","content":null}`), "messages[0].content", parts + ", got null"},
	{"a system with null content", turn(`{"role":"system","content":null}`), "messages[0].content", parts + ", got null"},
	{"a tool with null content", turn(`{"role":"tool","tool_call_id":"a","content":null}`), "messages[0].content", parts + ", got null"},
	{"a number for content", turn(`{"role":"user","content":1}`), "messages[0].content", parts + ", got number"},
	{"an object for content", turn(`{"role":"assistant","content":{}}`), "messages[0].content", parts + ", got object"},
	{"a string in content", turn(`{"role":"user","content":["a"]}`), "messages[0].content[0]", "must be an object"},
	{"a part without type", turn(`{"role":"user","content":[{"text":"a"}]}`), "messages[0].content[0].type", "required"},
	{"a part with a null type", turn(`{"role":"user","content":[{"type":null}]}`), "messages[0].content[0].type", "required"},
	{"a tool without call id", turn(`{"role":"tool","content":"a"}`), "messages[0].tool_call_id", "required"},
	{"a tool with a number for a call id", turn(`{"role":"tool","content":"a","tool_call_id":1}`), "messages[0].tool_call_id", "must be a string, got number"},
	{"calls as an object", turn(`{"role":"assistant","tool_calls":{}}`), "messages[0].tool_calls", "must be an array of objects"},
	{"a string for a call", call(`"f"`), "messages[0].tool_calls[0]", "must be an object"},
	{"a call without id", call(`{"type":"function","function":{"name":"f","arguments":"{}"}}`), "messages[0].tool_calls[0].id", "required"},
	{"a call with a number for an id", call(`{"id":1,"function":{"name":"f","arguments":"{}"}}`), "messages[0].tool_calls[0].id", "must be a string, got number"},
	{"a call without function", call(`{"id":"a","type":"function"}`), "messages[0].tool_calls[0].function", "required"},
	{"a call with a string for a function", call(`{"id":"a","function":"f"}`), "messages[0].tool_calls[0].function", "must be an object, got string"},
	{"a call without name", call(`{"id":"a","function":{"arguments":"{}"}}`), "messages[0].tool_calls[0].function.name", "required"},
	{"a call without arguments", call(`{"id":"a","function":{"name":"f"}}`), "messages[0].tool_calls[0].function.arguments", "required"},
	{"a call with an object for arguments", call(`{"id":"a","function":{"name":"f","arguments":{}}}`), "messages[0].tool_calls[0].function.arguments", "must be a string, got object"},

	// Numbers and flags.
	{"max_tokens 0", with(`"max_tokens":0`), "max_tokens", "must be an integer of at least 1, got 0"},
	{"max_tokens as a string", with(`"max_tokens":"5"`), "max_tokens", "must be an integer of at least 1, got string"},
	{"max_completion_tokens -1", with(`"max_completion_tokens":-1`), "max_completion_tokens", "must be an integer of at least 1, got -1"},
	{"max_completion_tokens 1.5", with(`"max_completion_tokens":1.5`), "max_completion_tokens", "must be an integer of at least 1, got 1.5"},
	{"n 0", with(`"n":0`), "n", "must be an integer of at least 1, got 0"},
	{"n beyond 64 bits", with(`"n":1e20`), "n", "must be at most 9223372036854775807, got 1e20"},
	{"temperature as a string", with(`"temperature":"1"`), "temperature", "must be a number, got string"},
	{"top_p true", with(`"top_p":true`), "top_p", "must be a number, got boolean"},
	{"presence_penalty as an array", with(`"presence_penalty":[]`), "presence_penalty", "must be a number, got array"},
	{"frequency_penalty as an object", with(`"frequency_penalty":{}`), "frequency_penalty", "must be a number, got object"},
	{"top_logprobs 1.5", with(`"top_logprobs":1.5`), "top_logprobs", "must be an integer"},
	{"seed as a string", with(`"seed":"7"`), "seed", "must be an integer"},
	{"stream as a string", with(`"stream":"true"`), "stream", "must be a boolean, got string"},
	{"logprobs 1", with(`"logprobs":1`), "logprobs", "must be a boolean, got number"},
	{"parallel_tool_calls as a string", with(`"parallel_tool_calls":"no"`), "parallel_tool_calls", "must be a boolean, got string"},
	{"store 0", with(`"store":0`), "store", "must be a boolean, got number"},
	{"stream_options true", with(`"stream_options":true`), "stream_options", "must be an object"},
	{"include_usage as a string", with(`"stream_options":{"include_usage":"yes"}`), "stream_options.include_usage", "must be a boolean, got string"},
	{"tools as an object", with(`"tools":{}`), "tools", "must be an array of objects"},
	{"a string for a tool", with(`"tools":["f"]`), "tools[0]", "must be an object"},
	{"a tool without type", with(`"tools":[{"function":{"name":"f"}}]`), "tools[0].type", "required"},
	{"a tool with a number for a type", with(`"tools":[{"type":1}]`), "tools[0].type", "must be a string, got number"},
	{"stop as a number", with(`"stop":1`), "stop", "must be a string or an array of strings"},
	{"stop as an object", with(`"stop":{}`), "stop", "must be a string or an array of strings"},
	{"stop with a number", with(`"stop":["a",1]`), "stop[1]", "must be a string"},
}

func TestInspectRefusesWithTheExactSentenceAndParam(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) { inspect.Refuses(t, tt.body, tt.path, tt.what) })
	}
}

func TestInspectReportsThePositionOfInvalidJSON(t *testing.T) {
	inspect.LocatesInvalidJSON(t,
		`{"model":‸}`, `{"messages":[{‸]`, `{‸,}`, turn(`{"role":"user","content":"a"}`)+"‸x", "{\"x\":\"‸\xff\"}",
		with(`"n":‸00`), with(`"stop":["a"‸`),
	)
}

// accepted are bodies that pass, each for the reason that its name gives.
var accepted = []struct{ name, body string }{
	{"a byte order mark", "\ufeff" + with(`"x":1`)},
	{"every role", turn(`{"role":"system","content":"a"},{"role":"developer","content":"a"},{"role":"user","content":"a"},{"role":"assistant","content":"a"},{"role":"tool","content":"a","tool_call_id":"c"},{"role":"function","name":"f","content":"a"}`)},
	{"an assistant without content", turn(`{"role":"assistant"}`)},
	{"an assistant with null content", turn(`{"role":"assistant","content":null}`)},
	{"null calls", turn(`{"role":"assistant","content":"a","tool_calls":null}`)},
	{"no calls", turn(`{"role":"assistant","content":"a","tool_calls":[]}`)},
	{"a call without type", call(`{"id":"a","function":{"name":"f","arguments":""}}`)},
	{"a call with a null type", call(`{"id":"a","type":null,"function":{"name":"f","arguments":"not json"}}`)},
	{"a custom call", call(`{"id":"a","type":"custom","custom":{"name":"f","input":"x"}}`)},
	{"a custom call with an odd function", call(`{"id":"a","function":{"name":5},"type":"custom"}`)},
	{"parts of unknown types", turn(`{"role":"user","content":[{"type":"video_url","video_url":5}]}`)},
	{"no parts", turn(`{"role":"user","content":[]}`)},
	{"nulls for all that is optional", with(`"max_tokens":null,"max_completion_tokens":null,"n":null,"temperature":null,"stream":null,"stream_options":null,"tools":null,"stop":null,"logprobs":null,"seed":null,"store":null`)},
	{"values beyond public bounds", with(`"temperature":9,"top_p":5,"n":4096,"stop":["a","b","c","d","e"],"presence_penalty":-7`)},
	{"stream_options without stream", with(`"stream_options":{"include_usage":true}`)},
	{"unknown fields", with(`"top_k":"x","min_p":[],"chat_template_kwargs":{"a":1,"a":2}`)},
	{"names of metadata that differ in letter case", with(`"metadata":{"a":"1","A":"2"}`)},
	{"a repeated member in a schema", with(`"tools":[{"type":"function","function":{"name":"f","parameters":{"a":1,"a":2}}}],"response_format":{"type":"json_schema","json_schema":{"schema":{"a":1,"a":2}}}`)},
	{"a tool_choice that is a word", with(`"tool_choice":"auto"`)},
	{"a huge seed", with(`"seed":123456789012345678901234567890`)},
	{"a stop that is a text", with(`"stop":"END"`)},
	{"integers in other notations", with(`"n":1e0,"max_tokens":16.0`)},
}

func TestInspectAcceptsWhatTheProviderMayJudge(t *testing.T) {
	for _, tt := range accepted {
		t.Run(tt.name, func(t *testing.T) {
			_, fault := request.Inspect([]byte(tt.body), translate.Generate)
			assert.Nil(t, fault)
		})
	}
}

func TestViewHasTheSpansOfStreamOptions(t *testing.T) {
	tests := []struct {
		name, members    string
		options, include string
		asked            bool
	}{
		{"no options", `"stream":true`, "", "", false},
		{"null options", `"stream_options": null `, "null", "", false},
		{"empty options", `"stream_options":{}`, "{}", "", false},
		{"other options", `"stream_options":{"x":1}`, `{"x":1}`, "", false},
		{"asked", `"stream_options":{"include_usage": true }`, `{"include_usage": true }`, "true", true},
		{"not asked", `"stream_options":{"include_usage":false}`, `{"include_usage":false}`, "false", false},
		{"null", `"stream_options":{"include_usage":null}`, `{"include_usage":null}`, "null", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := with(tt.members)
			view, fault := request.Inspect([]byte(body), translate.Generate)
			require.Nil(t, fault)
			assert.Equal(t, tt.options, body[view.StreamUsage.Options.Start:view.StreamUsage.Options.End])
			assert.Equal(t, tt.include, body[view.StreamUsage.Value.Start:view.StreamUsage.Value.End])
			assert.Equal(t, tt.asked, view.StreamUsage.Asked)
			assert.Equal(t, len(body)-1, view.StreamUsage.End)
			assert.Equal(t, `"m1"`, body[view.ModelSpan.Start:view.ModelSpan.End])
			assert.Equal(t, "m1", view.Model)
		})
	}
}

package request_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// with returns a valid request with further members at its end.
func with(members string) string {
	return `{"model":"m1","max_tokens":16,"messages":[{"role":"user","content":"hi"}],` + members + `}`
}

// turn is a request with one message.
func turn(message string) string {
	return `{"model":"m1","max_tokens":16,"messages":[` + message + `]}`
}

// block is a request with one user message of one text and one more block.
func block(b string) string {
	return turn(`{"role":"user","content":[{"type":"text","text":"a"},` + b + `]}`)
}

// refused lists invalid bodies with the error message, in the order of the table of
// fields.
var refused = []struct{ name, body, message string }{
	// The document.
	{"no body", "", "request body: empty, must be a JSON object"},
	{"white space only", " \r\n\t", "request body: empty, must be a JSON object"},
	{"byte order mark only", "\ufeff", "request body: empty, must be a JSON object"},
	{"an array", `[]`, "request body: must be a JSON object"},
	{"a string", `"model"`, "request body: must be a JSON object"},
	{"a null", `null`, "request body: must be a JSON object"},
	{"a number", ` 12 `, "request body: must be a JSON object"},
	// Repeated members.
	{"model twice", `{"model":"a","model":"b"}`, "model: must appear once, letter case ignored"},
	{"model in other case", `{"model":"a","MODEL":"b"}`, "model: must appear once, letter case ignored"},
	{"the odd one first", `{"Model":"a","model":"b"}`, "Model: must appear once, letter case ignored"},
	{"model behind an escape", `{"model":"a","mod\u0065l":"b"}`, "model: must appear once, letter case ignored"},
	{"a name that folds beyond ASCII", `{"max_tokens":1,"max_to\u212aens":2}`, "max_tokens: must appear once, letter case ignored"},
	{"an unknown field twice", `{"x":1,"X":2}`, "x: must appear once, letter case ignored"},
	{"in a message", turn(`{"role":"user","content":"a","role":"assistant"}`), "messages.0.role: must appear once, letter case ignored"},
	{"in a later message", turn(`{"role":"user","content":"a"},{"role":"user","content":"a","Content":"b"}`), "messages.1.content: must appear once, letter case ignored"},
	{"in a block", block(`{"type":"text","text":"a","text":"b"}`), "messages.0.content.1.text: must appear once, letter case ignored"},
	{"in a block of unknown type", block(`{"type":"new","text":"a","text":"b"}`), "messages.0.content.1.text: must appear once, letter case ignored"},
	{"in a source", block(`{"type":"image","source":{"type":"url","url":"a","URL":"b"}}`), "messages.0.content.1.source.url: must appear once, letter case ignored"},
	{"in cache_control", block(`{"type":"text","text":"a","cache_control":{"type":"ephemeral","type":"x"}}`), "messages.0.content.1.cache_control.type: must appear once, letter case ignored"},
	{"in citations", block(`{"type":"document","source":{"type":"url","url":"u"},"citations":{"enabled":true,"enabled":false}}`), "messages.0.content.1.citations.enabled: must appear once, letter case ignored"},
	{"in a block of a tool result", block(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a","Text":"b"}]}`), "messages.0.content.1.content.0.text: must appear once, letter case ignored"},
	{"in a block of a document", block(`{"type":"document","source":{"type":"content","content":[{"type":"text","type":"image"}]}}`), "messages.0.content.1.source.content.0.type: must appear once, letter case ignored"},
	{"in a message's output_config", turn(`{"role":"system","output_config":{"effort":"low","effort":"high"}}`), "messages.0.output_config.effort: must appear once, letter case ignored"},
	{"in a system block", with(`"system":[{"type":"text","text":"a","text":"b"}]`), "system.0.text: must appear once, letter case ignored"},
	{"in a tool", with(`"tools":[{"name":"a"},{"name":"a","NAME":"b"}]`), "tools.1.name: must appear once, letter case ignored"},
	{"in a tool's cache_control", with(`"tools":[{"name":"a","cache_control":{"ttl":"5m","ttl":"1h"}}]`), "tools.0.cache_control.ttl: must appear once, letter case ignored"},
	{"in metadata", with(`"metadata":{"Team":1,"team":2,"user_id":"a","user_id":"b"}`), "metadata.user_id: must appear once"},
	{"in tool_choice", with(`"tool_choice":{"type":"tool","name":"a","name":"b"}`), "tool_choice.name: must appear once, letter case ignored"},
	{"in thinking", with(`"thinking":{"type":"enabled","budget_tokens":1,"budget_tokens":2}`), "thinking.budget_tokens: must appear once, letter case ignored"},
	{"in output_config", with(`"output_config":{"effort":"a","Effort":"b"}`), "output_config.effort: must appear once, letter case ignored"},
	{"in output_config.format", with(`"output_config":{"format":{"type":"json_schema","type":"x"}}`), "output_config.format.type: must appear once, letter case ignored"},
	{"in output_format", with(`"output_format":{"type":"json_schema","type":"x"}`), "output_format.type: must appear once, letter case ignored"},
	{"in the top-level cache_control", with(`"cache_control":{"type":"a","type":"b"}`), "cache_control.type: must appear once, letter case ignored"},
	{"in thread", with(`"thread":{"type":"create","type":"continue"}`), "thread.type: must appear once, letter case ignored"},

	// The order: the document before its fields, fields by their table.
	{"a repeated member behind a bad field", `{"temperature":7,"model":"a","model":"b"}`, "model: must appear once, letter case ignored"},
	{"bad JSON behind a bad field", `{"temperature":7,"model":}`, "request body: not valid JSON at byte 25"},
	{"bad JSON of the tables' example", `{"model":"m1","x"}`, "request body: not valid JSON at byte 17"},
	{"a repeated member before bad JSON", `{"a":1,"a":2,`, "a: must appear once, letter case ignored"},
	{"bad JSON before a repeated member", `{"a":tru,"a":2}`, "request body: not valid JSON at byte 5"},
	{"several fields in another order", `{"metadata":1,"temperature":7,"max_tokens":0,"messages":[],"model":""}`, "model: must be a non-empty string"},
	{"messages before max_tokens", `{"max_tokens":0,"messages":[],"model":"m"}`, "messages: must hold at least one message"},
	{"a missing field before a bad one", `{"temperature":7,"model":"m","messages":[{"role":"user","content":"a"}]}`, "max_tokens: required"},
	{"role before content", turn(`{"content":5,"role":"tool"}`), "messages.0.role: must be 'user', 'assistant' or 'system', got 'tool'"},
	{"the earlier message first", turn(`{"role":"user","content":1},{"role":"tool","content":"a"}`), "messages.0.content: must be a string or an array of content blocks, got number"},
	{"the earlier block first", turn(`{"role":"user","content":[{"type":"image"},{"text":"a"}]}`), "messages.0.content.0.source: required"},
	{"the block's own members first", block(`{"source":{"type":"url"},"type":"document","content":[1]}`), "messages.0.content.1.source.url: required"},

	// model
	{"no model", `{"max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, "model: required"},
	{"a null model", `{"model":null,"max_tokens":1,"messages":[{"role":"user","content":"a"}]}`, "model: required"},
	{"a number for a model", `{"model":5}`, "model: must be a non-empty string, got number"},
	{"an array for a model", `{"model":["m"]}`, "model: must be a non-empty string, got array"},
	{"an object for a model", `{"model":{}}`, "model: must be a non-empty string, got object"},
	{"a boolean for a model", `{"model":true}`, "model: must be a non-empty string, got boolean"},
	{"an empty model", `{"model":""}`, "model: must be a non-empty string"},
	{"a model of 257 bytes", `{"model":"` + strings.Repeat("m", 257) + `"}`, "model: must be at most 256 bytes long"},
	{"a model that changes terminals", `{"model":"m\u001b[31m"}`, "model: must have no control characters"},
	{"an empty object", `{}`, "model: required"},
	{"a model in odd case", `{"Model":"m"}`, "model: must be written in lower case"},

	// messages
	{"no messages", `{"model":"m","max_tokens":1}`, "messages: required"},
	{"null messages", `{"model":"m","max_tokens":1,"messages":null}`, "messages: required"},
	{"an object of messages", `{"model":"m","messages":{}}`, "messages: must be an array, got object"},
	{"a string of messages", `{"model":"m","messages":"hi"}`, "messages: must be an array, got string"},
	{"no message", `{"model":"m","messages":[]}`, "messages: must hold at least one message"},
	{"100001 messages", turn(strings.Repeat(`{"role":"user","content":"a"},`, 100_000) + `{"role":"user","content":"a"}`), "messages: must hold at most 100000 messages"},
	{"a string for a message", turn(`"hi"`), "messages.0: must be an object"},
	{"a null for a message", turn(`{"role":"user","content":"a"},null`), "messages.1: must be an object"},
	{"an array for a message", turn(`[]`), "messages.0: must be an object"},
	{"no role", turn(`{"content":"a"}`), "messages.0.role: required"},
	{"a null role", turn(`{"role":null,"content":"a"}`), "messages.0.role: required"},
	{"role tool", turn(`{"role":"tool","content":"a"}`), "messages.0.role: must be 'user', 'assistant' or 'system', got 'tool'"},
	{"role User", turn(`{"role":"User","content":"a"}`), "messages.0.role: must be 'user', 'assistant' or 'system', got 'User'"},
	{"an empty role", turn(`{"role":"","content":"a"}`), "messages.0.role: must be 'user', 'assistant' or 'system', got ''"},
	{"a long role", turn(`{"role":"` + strings.Repeat("x", 65) + `","content":"a"}`), "messages.0.role: must be 'user', 'assistant' or 'system'"},
	{"a number for a role", turn(`{"role":1,"content":"a"}`), "messages.0.role: must be 'user', 'assistant' or 'system', got number"},
	{"no content", turn(`{"role":"user"}`), "messages.0.content: required"},
	{"null content", turn(`{"role":"user","content":null}`), "messages.0.content: must be a string or an array of content blocks, got null"},
	{"a number for content", turn(`{"role":"user","content":1}`), "messages.0.content: must be a string or an array of content blocks, got number"},
	{"an object for content", turn(`{"role":"user","content":{"type":"text","text":"a"}}`), "messages.0.content: must be a string or an array of content blocks, got object"},
	{"a boolean for content", turn(`{"role":"user","content":false}`), "messages.0.content: must be a string or an array of content blocks, got boolean"},
	{"a system turn without content and config", turn(`{"role":"system"}`), "messages.0.content: required"},
	{"a system turn whose config is no object", turn(`{"role":"system","output_config":"low"}`), "messages.0.content: required"},
	{"a user turn with config but no content", turn(`{"role":"user","output_config":{"effort":"low"}}`), "messages.0.content: required"},
	{"a number in content", turn(`{"role":"user","content":[1]}`), "messages.0.content.0: must be an object"},
	{"a string in content", turn(`{"role":"user","content":["hi"]}`), "messages.0.content.0: must be an object"},
	{"a null in content", turn(`{"role":"user","content":[null]}`), "messages.0.content.0: must be an object"},
	{"a block without type", block(`{"text":"a"}`), "messages.0.content.1.type: required"},
	{"a block with a null type", block(`{"type":null,"text":"a"}`), "messages.0.content.1.type: required"},
	{"a block with a number for a type", block(`{"type":1,"text":"a"}`), "messages.0.content.1.type: must be a string, got number"},
	{"a text without text", block(`{"type":"text"}`), "messages.0.content.1.text: required"},
	{"a text with null text", block(`{"type":"text","text":null}`), "messages.0.content.1.text: required"},
	{"a text with a number", block(`{"type":"text","text":5}`), "messages.0.content.1.text: must be a string, got number"},
	{"an image without source", block(`{"type":"image"}`), "messages.0.content.1.source: required"},
	{"an image with a string for a source", block(`{"type":"image","source":"https://x"}`), "messages.0.content.1.source: must be an object, got string"},
	{"a source without type", block(`{"type":"image","source":{"data":"x"}}`), "messages.0.content.1.source.type: required"},
	{"a source with a number for a type", block(`{"type":"image","source":{"type":1}}`), "messages.0.content.1.source.type: must be a string, got number"},
	{"base64 without media_type", block(`{"type":"image","source":{"type":"base64","data":"x"}}`), "messages.0.content.1.source.media_type: required"},
	{"base64 without data", block(`{"type":"image","source":{"type":"base64","media_type":"image/png"}}`), "messages.0.content.1.source.data: required"},
	{"base64 with a number for data", block(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":1}}`), "messages.0.content.1.source.data: must be a string, got number"},
	{"a url source without url", block(`{"type":"image","source":{"type":"url"}}`), "messages.0.content.1.source.url: required"},
	{"a file source without file_id", block(`{"type":"image","source":{"type":"file"}}`), "messages.0.content.1.source.file_id: required"},
	{"an image whose type stands last", block(`{"source":{"type":"url"},"type":"image"}`), "messages.0.content.1.source.url: required"},
	{"a document without source", block(`{"type":"document","title":"t"}`), "messages.0.content.1.source: required"},
	{"a text source without data", block(`{"type":"document","source":{"type":"text","media_type":"text/plain"}}`), "messages.0.content.1.source.data: required"},
	{"a content source without content", block(`{"type":"document","source":{"type":"content"}}`), "messages.0.content.1.source.content: required"},
	{"a content source with a number", block(`{"type":"document","source":{"type":"content","content":1}}`), "messages.0.content.1.source.content: must be a string or an array of content blocks, got number"},
	{"a content source with a bad block", block(`{"type":"document","source":{"type":"content","content":[{"type":"text"}]}}`), "messages.0.content.1.source.content.0.text: required"},
	{"a search result without source", block(`{"type":"search_result","title":"t","content":[]}`), "messages.0.content.1.source: required"},
	{"a search result with an object for a source", block(`{"type":"search_result","source":{"type":"url","url":"u"},"title":"t","content":[]}`), "messages.0.content.1.source: must be a string, got object"},
	{"a search result without title", block(`{"type":"search_result","source":"s","content":[]}`), "messages.0.content.1.title: required"},
	{"a search result without content", block(`{"type":"search_result","source":"s","title":"t"}`), "messages.0.content.1.content: required"},
	{"a search result with a string for content", block(`{"type":"search_result","source":"s","title":"t","content":"a"}`), "messages.0.content.1.content: must be an array, got string"},
	{"a search result with a bad text", block(`{"type":"search_result","source":"s","title":"t","content":[{"type":"text"}]}`), "messages.0.content.1.content.0.text: required"},
	{"thinking without thinking", block(`{"type":"thinking","signature":"s"}`), "messages.0.content.1.thinking: required"},
	{"thinking with a number for a signature", block(`{"type":"thinking","thinking":"t","signature":1}`), "messages.0.content.1.signature: must be a string, got number"},
	{"redacted thinking without data", block(`{"type":"redacted_thinking"}`), "messages.0.content.1.data: required"},
	{"a tool use without id", block(`{"type":"tool_use","name":"n","input":{}}`), "messages.0.content.1.id: required"},
	{"a tool use without name", block(`{"type":"tool_use","id":"a","input":{}}`), "messages.0.content.1.name: required"},
	{"a tool use with a string for input", block(`{"type":"tool_use","id":"a","name":"n","input":"{}"}`), "messages.0.content.1.input: must be an object, got string"},
	{"a tool use with an array for input", block(`{"type":"tool_use","id":"a","name":"n","input":[]}`), "messages.0.content.1.input: must be an object, got array"},
	{"a tool use with a number for an id", block(`{"type":"tool_use","id":1,"name":"n","input":{}}`), "messages.0.content.1.id: must be a string, got number"},
	{"a tool result without id", block(`{"type":"tool_result","content":"a"}`), "messages.0.content.1.tool_use_id: required"},
	{"a tool result with a number for content", block(`{"type":"tool_result","tool_use_id":"t","content":1}`), "messages.0.content.1.content: must be a string or an array of content blocks, got number"},
	{"a tool result with an object for content", block(`{"type":"tool_result","tool_use_id":"t","content":{"type":"text","text":"a"}}`), "messages.0.content.1.content: must be a string or an array of content blocks, got object"},
	{"a tool result with a bad block", block(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":1}]}`), "messages.0.content.1.content.0.text: must be a string, got number"},
	{"a tool result with a string in content", block(`{"type":"tool_result","tool_use_id":"t","content":["a"]}`), "messages.0.content.1.content.0: must be an object"},
	{"a tool result with an image without source", block(`{"content":[{"type":"image"}],"tool_use_id":"t","type":"tool_result"}`), "messages.0.content.1.content.0.source: required"},
	{"a web search result without id", block(`{"type":"web_search_tool_result","content":[]}`), "messages.0.content.1.tool_use_id: required"},
	{"a web search result without content", block(`{"type":"web_search_tool_result","tool_use_id":"t"}`), "messages.0.content.1.content: required"},
	{"a container upload without file_id", block(`{"type":"container_upload"}`), "messages.0.content.1.file_id: required"},

	// system
	{"a number for system", with(`"system":1`), "system: must be a string or an array of text blocks"},
	{"an object for system", with(`"system":{"type":"text","text":"a"}`), "system: must be a string or an array of text blocks"},
	{"a string in system", with(`"system":["a"]`), "system.0: must be an object"},
	{"a system block without type", with(`"system":[{"text":"a"}]`), "system.0.type: required"},
	{"a system block without text", with(`"system":[{"type":"text","text":"a"},{"type":"text"}]`), "system.1.text: required"},
	{"an image in system", with(`"system":[{"type":"image"}]`), "system.0.type: must be 'text'"},
	{"an unknown block in system", with(`"system":[{"type":"new"}]`), "system.0.type: must be 'text'"},

	// max_tokens
	{"no max_tokens", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, "max_tokens: required"},
	{"null max_tokens", `{"model":"m","max_tokens":null,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: required"},
	{"max_tokens 0", `{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got 0"},
	{"max_tokens -1", `{"model":"m","max_tokens":-1,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got -1"},
	{"max_tokens 16.5", `{"model":"m","max_tokens":16.5,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got 16.5"},
	{"max_tokens as a string", `{"model":"m","max_tokens":"16","messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got string"},
	{"max_tokens true", `{"model":"m","max_tokens":true,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got boolean"},
	{"max_tokens of 32 bits", `{"model":"m","max_tokens":2147483648,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be at most 2147483647, got 2147483648"},
	{"max_tokens beyond 64 bits", `{"model":"m","max_tokens":1e30,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be at most 2147483647, got 1e30"},
	{"max_tokens below 64 bits", `{"model":"m","max_tokens":-1e30,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got -1e30"},
	{"a huge fraction", `{"model":"m","max_tokens":0.` + strings.Repeat("0", 80) + `1,"messages":[{"role":"user","content":"a"}]}`, "max_tokens: must be an integer of at least 1, got number"},

	// The others.
	{"temperature 1.2", with(`"temperature":1.2`), "temperature: must be between 0 and 1, got 1.2"},
	{"temperature 1.5", with(`"temperature":1.5`), "temperature: must be between 0 and 1, got 1.5"},
	{"temperature -0.1", with(`"temperature":-0.1`), "temperature: must be between 0 and 1, got -0.1"},
	{"temperature 1e400", with(`"temperature":1e400`), "temperature: must be between 0 and 1, got 1e400"},
	{"temperature as a string", with(`"temperature":"1"`), "temperature: must be between 0 and 1, got string"},
	{"temperature true", with(`"temperature":true`), "temperature: must be between 0 and 1, got boolean"},
	{"top_p as a string", with(`"top_p":"0.9"`), "top_p: must be a number, got string"},
	{"top_p as an array", with(`"top_p":[1]`), "top_p: must be a number, got array"},
	{"top_k 1.5", with(`"top_k":1.5`), "top_k: must be an integer"},
	{"top_k as a string", with(`"top_k":"5"`), "top_k: must be an integer"},
	{"top_k with a tiny fraction", with(`"top_k":9007199254740993.5`), "top_k: must be an integer"},
	{"stream as a string", with(`"stream":"true"`), "stream: must be a boolean, got string"},
	{"stream 1", with(`"stream":1`), "stream: must be a boolean, got number"},
	{"stop_sequences as a string", with(`"stop_sequences":"END"`), "stop_sequences: must be an array of strings"},
	{"stop_sequences with a number", with(`"stop_sequences":["END",5]`), "stop_sequences.1: must be a string"},
	{"stop_sequences with a null", with(`"stop_sequences":[null]`), "stop_sequences.0: must be a string"},
	{"tools as an object", with(`"tools":{}`), "tools: must be an array of objects"},
	{"tools as a string", with(`"tools":"x"`), "tools: must be an array of objects"},
	{"tools with a string", with(`"tools":["x"]`), "tools.0: must be an object"},
	{"a tool with a number for a name", with(`"tools":[{"name":5}]`), "tools.0.name: must be a string"},
	{"tool_choice as a string", with(`"tool_choice":"auto"`), "tool_choice: must be an object"},
	{"tool_choice without type", with(`"tool_choice":{"name":"a"}`), "tool_choice.type: required"},
	{"tool_choice with a number for a type", with(`"tool_choice":{"type":1}`), "tool_choice.type: must be a string, got number"},
	{"thinking true", with(`"thinking":true`), "thinking: must be an object"},
	{"thinking without type", with(`"thinking":{"budget_tokens":1024}`), "thinking.type: required"},
	{"metadata as a string", with(`"metadata":"u"`), "metadata: must be an object"},
	{"metadata as an array", with(`"metadata":[]`), "metadata: must be an object"},
}

func TestInspectRefusesWithTheExactSentence(t *testing.T) {
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			view, f := request.Inspect([]byte(tt.body), translate.Generate)
			require.NotNil(t, f)
			assert.Equal(t, tt.message, f.Message)
			assert.Equal(t, fault.Invalid, f.Kind)
			assert.Equal(t, translate.View{}, view)
		})
	}
}

// here marks the position of the first invalid byte.
const here = "‸"

// broken are bodies that are not JSON.
var broken = []struct{ name, body string }{
	{"a comma too many in an array", `[1,‸]`},
	{"text", `‸hello`},
	{"an open object", `{‸`},
	{"an open array", `[[‸`},
	{"a cut name", `{"mod‸`},
	{"a cut text", `{"model":"m‸`},
	{"no colon", `{"model" ‸1}`},
	{"no value", `{"model":‸}`},
	{"a trailing comma", `{"model":"m",‸}`},
	{"a leading comma", `{‸,"model":"m"}`},
	{"a missing comma", `{"model":"m" ‸"stream":true}`},
	{"a missing comma among messages", turn(`{"role":"user","content":"a"}‸{"role":"user"}`)},
	{"a bracket for a brace", turn(`{"role":"user","content":"a"‸]`)},
	{"single quotes", `{‸'model':'m'}`},
	{"a bare name", `{‸model:"m"}`},
	{"a comment", `{‸/**/}`},
	{"a number for a name", `{‸1:2}`},
	{"a second document", with(`"stream":true`) + `‸{}`},
	{"a closing brace too many", with(`"stream":true`) + `‸}`},
	{"a zero byte behind", with(`"stream":true`) + "‸\x00"},
	{"a control character in a text", "{\"model\":\"a‸\nb\"}"},
	{"a tab in a name", "{\"mo‸\tdel\":1}"},
	{"a bad escape", `{"model":"‸\x"}`},
	{"a short unicode escape", `{"model":"‸\u12"}`},
	{"bad UTF-8 in a value", "{\"model\":\"‸\xff\"}"},
	{"bad UTF-8 in an unknown field", with("\"x\":\"‸\xc3\x28\"")},
	{"bad UTF-8 in a name", "{\"‸\x80\":1}"},
	{"an overlong encoding", "{\"model\":\"‸\xc0\xaf\"}"},
	{"a surrogate in UTF-8", "{\"model\":\"‸\xed\xa0\x80\"}"},
	{"beyond Unicode", "{\"model\":\"‸\xf5\x80\x80\x80\"}"},
	{"a cut character at the end", "{\"model\":\"m\"}‸\xe2\x82"},
	{"UTF-16", "‸\xff\xfe{\x00}\x00"},
	{"a byte order mark in the middle", "{‸\ufeff}"},
	{"a leading zero", with(`"top_k":‸01`)},
	{"a plus sign", with(`"top_k":‸+1`)},
	{"a bare point", with(`"top_p":1.‸`)},
	{"a point first", with(`"top_p":‸.5`)},
	{"a bare exponent", with(`"top_p":1e‸`)},
	{"a hexadecimal number", with(`"top_k":0‸x1`)},
	{"NaN", with(`"top_p":‸NaN`)},
	{"Infinity", with(`"top_p":‸Infinity`)},
	{"a misspelled word", with(`"stream":‸ture`)},
	{"a word in capitals", with(`"stream":‸True`)},
	{"a cut word", with(`"stream":‸nul`)},
}

func TestInspectReportsThePositionOfInvalidJSON(t *testing.T) {
	for _, tt := range broken {
		t.Run(tt.name, func(t *testing.T) { translatetest.Inspect(request.Inspect).LocatesInvalidJSON(t, tt.body) })
	}
}

// A body that is nested too deeply was once reported as invalid JSON, although it may be
// valid.
func TestInspectReportsThePositionOfTooDeepNesting(t *testing.T) {
	for _, tt := range []struct{ name, body string }{
		{"in an unknown field", with(`"x":` + strings.Repeat("[", 199) + here + "[" + strings.Repeat("]", 200))},
		{"in a tool input", block(`{"type":"tool_use","id":"a","name":"n","input":` + strings.Repeat(`{"a":`, 195) + here + `{}` + strings.Repeat("}", 196))},
		{"without end", strings.Repeat(`{"x":[`, 100) + here + strings.Repeat(`[`, 100_000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, fault := request.Inspect([]byte(strings.Replace(tt.body, here, "", 1)), translate.Generate)
			require.NotNil(t, fault)
			assert.Equal(t, "request body: nested more than 200 levels deep at byte "+strconv.Itoa(strings.Index(tt.body, here)), fault.Message)
			assert.Equal(t, "invalid_value", fault.Code)
		})
	}
}

// accepted are bodies that pass, each for the reason that its name gives.
var accepted = []struct{ name, body string }{
	{"the smallest", with(`"x":1`)},
	{"a byte order mark", "\ufeff" + with(`"x":1`)},
	{"white space around", "\r\n\t " + with(`"x":1`) + "\n"},
	{"integers in other notations", `{"model":"m","max_tokens":1.6e1,"messages":[{"role":"user","content":"a"}],"top_k":16.0}`},
	{"max_tokens at its bound", `{"model":"m","max_tokens":2147483647,"messages":[{"role":"user","content":"a"}]}`},
	{"a model of 256 bytes", `{"model":"` + strings.Repeat("m", 256) + `","max_tokens":1,"messages":[{"role":"user","content":"a"}]}`},
	{"temperature 0", with(`"temperature":0`)},
	{"temperature 1", with(`"temperature":1`)},
	{"temperature -0.0", with(`"temperature":-0.0`)},
	{"temperature 1.0e0", with(`"temperature":1.0e0`)},
	{"top_p out of the public bounds", with(`"top_p":7`)},
	{"a negative top_k", with(`"top_k":-5`)},
	{"a top_k beyond 64 bits", with(`"top_k":123456789012345678901234567890`)},
	{"nulls for all that is optional", with(`"system":null,"temperature":null,"top_p":null,"top_k":null,"stream":null,"stop_sequences":null,"tools":null,"tool_choice":null,"thinking":null,"metadata":null`)},
	{"unknown fields of any kind", with(`"a":1,"b":[{}],"c":{"d":null},"e":"f","g":true`)},
	{"a repeated member in an unknown field", with(`"x":{"a":1,"a":2}`)},
	{"a repeated member in a tool's schema", with(`"tools":[{"name":"a","input_schema":{"a":1,"a":2}}]`)},
	{"a repeated member in a tool input", block(`{"type":"tool_use","id":"a","name":"n","input":{"a":1,"A":2}}`)},
	{"names of metadata that differ in letter case", with(`"metadata":{"Team":1,"team":2}`)},
	{"names that differ beyond folding", with(`"temperature":1,"temperatur":2`)},
	{"the same name in neighbouring objects", turn(`{"role":"user","content":"a"},{"role":"assistant","content":"b"}`)},
	{"an unknown block type", block(`{"type":"new_block","source":{"type":5},"content":[1,2]}`)},
	{"an unknown source type", block(`{"type":"image","source":{"type":"new"}}`)},
	{"an empty text", block(`{"type":"text","text":""}`)},
	{"no blocks", turn(`{"role":"user","content":[]}`)},
	{"a role system in the array", turn(`{"role":"user","content":"a"},{"role":"system","content":[{"type":"text","text":"b"}]}`)},
	{"a system turn that only sets the effort", turn(`{"role":"user","content":"a"},{"role":"system","output_config":{"effort":"low"}}`)},
	{"the same with null content", turn(`{"role":"system","content":null,"output_config":{"effort":"low"}}`)},
	// Ollama signs no thinking and leaves out the input of a call without
	// arguments; refusing what it had answered ended conversations at their
	// second turn.
	{"thinking without signature", block(`{"type":"thinking","thinking":"t"}`)},
	{"thinking with a null signature", block(`{"type":"thinking","thinking":"t","signature":null}`)},
	{"a tool use without input", block(`{"type":"tool_use","id":"a","name":"n"}`)},
	{"a tool use with a null input", block(`{"type":"tool_use","id":"a","name":"n","input":null}`)},
	{"a server tool use without input", block(`{"type":"server_tool_use","id":"a","name":"web_search"}`)},
	{"an assistant turn with null for content", turn(`{"role":"user","content":"a"},{"role":"assistant","content":null},{"role":"user","content":"b"}`)},
	{"thinking with an empty signature", block(`{"type":"thinking","thinking":"t","signature":""}`)},
	{"thinking that is only a signature", block(`{"type":"thinking","thinking":"","signature":"abc"}`)},
	{"a tool result without content", block(`{"type":"tool_result","tool_use_id":"t"}`)},
	{"a tool result with null content", block(`{"type":"tool_result","tool_use_id":"t","content":null}`)},
	{"a tool result with an unknown block", block(`{"type":"tool_result","tool_use_id":"t","content":[{"type":"tool_reference","tool_name":"x"}]}`)},
	{"a web search result that is an error", block(`{"type":"web_search_tool_result","tool_use_id":"t","content":{"type":"web_search_tool_result_error","error_code":"x"}}`)},
	{"a web search result with opaque entries", block(`{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","url":"u"},5]}`)},
	{"a server tool use", block(`{"type":"server_tool_use","id":"a","name":"web_search","input":{"query":"q"}}`)},
	{"a document with a string for its content", block(`{"type":"document","source":{"type":"content","content":"a"}}`)},
	{"a document with blocks", block(`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"a"}]}}`)},
	{"a search result", block(`{"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"a"}]}`)},
	{"citations that are an array", block(`{"type":"text","text":"a","citations":[{"a":1,"a":2}]}`)},
	{"a tool of a vendor", with(`"tools":[{"type":"bash_20250124","name":"bash"},{"type":"web_search_20250305","name":"web_search","max_uses":8}]`)},
	{"a tool with a null name and type", with(`"tools":[{"type":null,"name":null}]`)},
	{"no tools in the array", with(`"tools":[]`)},
	{"a system prompt of blocks", with(`"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]`)},
	{"an empty system prompt", with(`"system":""`)},
	{"thinking of any type", with(`"thinking":{"type":"between_tools"}`)},
	{"an output_config that is no object", with(`"output_config":"high"`)},
	{"a 40-digit integer in a tool input", block(`{"type":"tool_use","id":"a","name":"n","input":{"n":1234567890123456789012345678901234567890}}`)},
	{"a lone surrogate escape", with(`"x":"\ud800"`)},
	{"199 levels in an unknown field", with(`"x":` + strings.Repeat("[", 199) + strings.Repeat("]", 199))},
	{"a prefill", turn(`{"role":"user","content":"a"},{"role":"assistant","content":"b"}`)},
}

func TestInspectAcceptsWhatTheProviderMayJudge(t *testing.T) {
	for _, tt := range accepted {
		t.Run(tt.name, func(t *testing.T) {
			_, fault := request.Inspect([]byte(tt.body), translate.Generate)
			assert.Nil(t, fault)
		})
	}
}

func TestCountTokensNeedsNoMaxTokens(t *testing.T) {
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"foo"}],"tools":[]}`)
	_, fault := request.Inspect(body, translate.CountTokens)
	assert.Nil(t, fault)
	_, fault = request.Inspect([]byte(`{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"foo"}]}`), translate.CountTokens)
	require.NotNil(t, fault)
	assert.Equal(t, "max_tokens: must be an integer of at least 1, got 0", fault.Message)
}

func TestViewPointsIntoTheBody(t *testing.T) {
	body := " {\"x\":\"model\", \"model\" : \"m\\u0031\" ,\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"stream\":true } \n"
	view, fault := request.Inspect([]byte(body), translate.Generate)
	require.Nil(t, fault)
	assert.Equal(t, "m1", view.Model)
	assert.Equal(t, `"m\u0031"`, body[view.ModelSpan.Start:view.ModelSpan.End])
	assert.True(t, view.Stream)
	assert.Equal(t, "}", body[view.StreamUsage.End:view.StreamUsage.End+1])
	assert.Equal(t, strings.LastIndex(body, "}"), view.StreamUsage.End)
	assert.Empty(t, view.SelfSigned)
}

func TestTheViewHasThePathOfALateSystemText(t *testing.T) {
	const user, system = `{"role":"user","content":"a"}`, `{"role":"system","content":"b"}`
	for _, tt := range []struct {
		name, body string
		want       string
	}{
		{"none", turn(user), ""},
		{"in front", turn(system + "," + user), ""},
		{"behind a user", turn(user + "," + system + "," + user + "," + system), "messages.1.role"},
		{"behind another", turn(system + "," + system), "messages.1.role"},
		{"behind system", `{"messages":[` + system + `],"model":"m","max_tokens":1,"system":[{"type":"text","text":"s"}]}`, "messages.0.role"},
		{"behind a system of nothing", `{"messages":[` + system + `],"model":"m","max_tokens":1,"system":""}`, ""},
		{"no text", turn(user + `,{"role":"system","output_config":{"effort":"low"}}`), ""},
	} {
		view, fault := request.Inspect([]byte(tt.body), translate.Generate)
		require.Nil(t, fault, tt.name)
		assert.Equal(t, tt.want, view.LateSystem, tt.name)
	}
}

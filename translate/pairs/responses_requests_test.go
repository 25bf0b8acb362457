package pairs_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

func TestResponsesRequestsTowardsMessages(t *testing.T) {
	runRenderCases(t, translate.Responses, translate.Messages, []renderCase{
		{
			name:   "a text",
			body:   posing().body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "a string as the input, and instructions",
			body:   `{"model":"m1","input":"hi","instructions":"s"}`,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"system":[{"type":"text","text":"s"}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "R018 two calls, then their outputs",
			body:   responding(itemHi + "," + callItemF + `,{"type":"function_call","call_id":"c2","name":"g","arguments":"{\"a\":1}"},` + outputItem + `,{"type":"function_call_output","call_id":"c2","output":"r2"}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c2","name":"g","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"tool_result","tool_use_id":"c2","content":"r2"}]}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "R019 a message between a call and its output",
			body:   going(callItemF + "," + itemSaid("assistant", "a") + "," + outputItem).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"text","text":"go on"}]}]}`,
			losses: "input[*] shaping, max_output_tokens hint",
		},
		{
			name:   "a user between a call and its output",
			body:   responding(itemHi + "," + callItemF + "," + itemSaid("user", "b") + "," + outputItem).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"text","text":"b"}]}]}`,
			losses: "input[*].type shaping, max_output_tokens hint",
		},
		{
			name:   "R021 a free text that follows a grammar",
			body:   arming(`"type":"custom","name":"apply_patch","description":"Patch.","format":{"type":"grammar","syntax":"lark","definition":"start: x\n"}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"tools":[{"name":"apply_patch","description":"Patch.\n\nPut the raw text, as it is, into the member \"input\". It follows this grammar (lark):\nstart: x\n","input_schema":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}}]}`,
			losses: "tools[*].format shaping, max_output_tokens hint",
		},
		{
			name:   "the call of a free text",
			body:   going(freeCallItem + `,{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"input":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"text","text":"go on"}]}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "R023 tools of a namespace",
			body:   responding(itemHi+`,{"type":"function_call","call_id":"c1","namespace":"mcp__x","name":"f","arguments":"{}"},`+outputItem, `"tools":[{"type":"namespace","name":"mcp__x","description":"d","tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"function","name":"g"}]}]`, `"tool_choice":{"type":"function","name":"f","namespace":"mcp__x"}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"mcp__x__f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}],"tools":[{"name":"mcp__x__f","input_schema":{"type":"object","properties":{}}},{"name":"mcp__x__g","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"tool","name":"mcp__x__f"}}`,
			losses: "tools[*].description hint, max_output_tokens hint",
		},
		{
			name:  "two tools that one name would stand for",
			body:  posing(`"tools":[{"type":"namespace","name":"a","tools":[{"type":"function","name":"b__c"}]},{"type":"namespace","name":"a__b","tools":[{"type":"function","name":"c"}]}]`).body,
			fault: "tools[1].tools[0].name: is what the name of another tool becomes for the provider",
		},
		{
			// Both reached the provider before, and a call of the function came back as
			// one of the tool of the namespace.
			name:  "a function with the name that a tool of a namespace gets",
			body:  posing(`"tools":[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]`).body,
			fault: "tools[0].name: is what the name of another tool becomes for the provider",
		},
		{
			// The number became the namespace of no name, so the answer called a tool that the
			// client does not have.
			name:  "a namespace whose name is a number",
			body:  posing(`"tools":[{"type":"namespace","name":5,"tools":[{"type":"function","name":"f"}]}]`).body,
			fault: "tools[0].name: must be a string",
		},
		{
			// Providers refuse the whole request for an input that is no object.
			name:  "a search for tools with a number as its arguments",
			body:  responding(itemHi + `,{"type":"tool_search_call","execution":"client","call_id":"c","arguments":5},` + itemHi).body,
			fault: "input[1].arguments: must be an object",
		},
		{
			name:   "R024 tools that an item adds",
			body:   responding(`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f"}]},`+itemHi, `"tools":[{"type":"function","name":"f","description":"old"},{"type":"function","name":"g"}]`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}},{"name":"g","input_schema":{"type":"object","properties":{}}}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "R025 a tool that the vendor runs",
			body:   arming(`"type":"function","name":"f"},{"type":"web_search"`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]}`,
			losses: "tools[*].type shaping, max_output_tokens hint",
		},
		{
			name:  "R025 a tool that the vendor runs, forced",
			body:  arming(`"type":"web_search"`, `"tool_choice":{"type":"web_search"}`).body,
			fault: "tool_choice.type: 'web_search' cannot be translated for model 'm1' (upstream format messages)",
		},
		{
			name:   "some tools allowed",
			body:   posing(`"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`, `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"tools":[{"name":"g","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "a search of the client's for tools",
			body:   responding(itemHi+`,{"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{"q":"x"}},{"type":"tool_search_output","call_id":"c1","execution":"client","tools":[{"type":"function","name":"k","defer_loading":true}]}`, `"tools":[{"type":"tool_search","execution":"client","description":"find","parameters":{"type":"object"}}]`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"tool_search","input":{"q":"x"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"k"}]}],"tools":[{"name":"tool_search","description":"find","input_schema":{"type":"object","properties":{}}},{"name":"k","input_schema":{"type":"object","properties":{}}}]}`,
			losses: "input[*].tools[*].defer_loading hint, max_output_tokens hint",
		},
		{
			name: "R017 sealed thinking in front of a call", traits: "thinking_style adaptive",
			body:   responding(itemHi+`,{"type":"reasoning","summary":[],"encrypted_content":"`+signedSeal+`"},`+callItemF+","+outputItem, `"reasoning":{"effort":"high","summary":"auto"}`, `"include":["reasoning.encrypted_content"]`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}],"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "a sealed block that only its provider can read",
			body:   pondering(`,"summary":[],"encrypted_content":"` + redactedSeal + `"`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"redacted_thinking","data":"ZA=="},{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name:   "sealed thinking that no provider signed",
			body:   pondering(`,"summary":[],"encrypted_content":"` + selfSignedSeal + `"`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}]}`,
			losses: "input[*].encrypted_content shaping, max_output_tokens hint",
		},
		{
			name:   "a changed seal",
			body:   pondering(`,"summary":[],"encrypted_content":"` + signedSeal[:len(signedSeal)-1] + `"`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}]}`,
			losses: "input[*].encrypted_content shaping, max_output_tokens hint",
		},
		{
			name: "reasoning that somebody else encrypted", traits: "reasoning_replay reasoning",
			body:   pondering(`,"summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"gAAA"`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}]}`,
			losses: "input[*].encrypted_content shaping, input[*].summary shaping, max_output_tokens hint",
		},
		{
			name:  "a text that is empty",
			body:  `{"model":"m1","input":""}`,
			fault: "input: must not be empty",
		},
		{
			name:  "R039 an earlier response",
			body:  posing(`"previous_response_id":"resp_1"`).body,
			fault: "previous_response_id: this gateway keeps no responses: set store to false, and send the whole conversation as input",
		},
		{
			name:  "an item that the provider keeps",
			body:  listing(`{"type":"item_reference","id":"x"}`).body,
			fault: "input[1].type: this gateway keeps no responses: set store to false, and send the whole conversation as input",
		},
		{
			name:  "R040 a compaction",
			body:  listing(`{"type":"compaction_trigger"}`).body,
			fault: "input[1].type: 'compaction_trigger' cannot be translated for model 'm1' (upstream format messages)",
		},
		{
			name:   "what the vendor's tools did",
			body:   going(`{"type":"web_search_call","status":"completed"},` + itemSaid("assistant", "a")).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}]}`,
			losses: "input[*] shaping, max_output_tokens hint",
		},
		{
			name: "images and files", traits: "files true",
			body:   responding(`{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a.pdf"}]}]}`,
			losses: "input[*].content[*].detail hint, max_output_tokens hint",
		},
		{
			name:   "an image in an output",
			body:   responding(itemHi + "," + callItemF + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"https://x/i.png"}]},` + itemSaid("user", "go")).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"t"},{"type":"image","source":{"type":"url","url":"https://x/i.png"}}]},{"type":"text","text":"go"}]}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name: "a late text of the system", traits: "mid_system keep",
			body:   going(itemSaid("assistant", "a") + "," + itemSaid("developer", "d")).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"go on"}]}],"system":[{"type":"text","text":"d"}]}`,
			losses: "input[*].role shaping, max_output_tokens hint",
		},
		{
			name:   "texts of the system in front",
			body:   responding(itemSaid("developer", "d")+","+itemHi, `"instructions":"s"`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"system":[{"type":"text","text":"s"},{"type":"text","text":"d"}]}`,
			losses: "max_output_tokens hint",
		},
		{
			name: "settings that change on the way", traits: "thinking_style adaptive; reasoning_effort low high",
			body:   responding(itemHi+`,{"type":"configuration_update","reasoning":{"effort":"high"},"text":{"format":{"type":"text"}}}`, `"reasoning":{"effort":"low"}`, `"text":{"format":{"type":"json_object"}}`).body,
			want:   `{"model":"up","max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"high"}}`,
			losses: "max_output_tokens hint",
		},
		{
			name: "a schema", traits: "extensions verbosity",
			body:   posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":false},"verbosity":"low"}`, `"max_output_tokens":50`).body,
			want:   `{"model":"up","max_tokens":50,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}}}`,
			losses: "text.format.name hint, text.format.strict hint, text.verbosity shaping, text.format.schema.additionalProperties shaping",
		},
	})
}

func TestResponsesRequestsTowardsChat(t *testing.T) {
	runRenderCases(t, translate.Responses, translate.Chat, []renderCase{
		{
			name: "a text",
			body: posing().body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}]}`,
		},
		{
			name: "a string as the input, and instructions",
			body: `{"model":"m1","input":"hi","instructions":"s"}`,
			want: `{"model":"up","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`,
		},
		{
			name: "R018 two calls, then their outputs",
			body: responding(itemHi + "," + callItemF + `,{"type":"function_call","call_id":"c2","name":"g","arguments":"{\"a\":1}"},` + outputItem + `,{"type":"function_call_output","call_id":"c2","output":"r2"}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"tool","tool_call_id":"c2","content":"r2"}]}`,
		},
		{
			name:   "R019 a message between a call and its output",
			body:   going(callItemF + "," + itemSaid("assistant", "a") + "," + outputItem).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"go on"}]}`,
			losses: "input[*] shaping",
		},
		{
			name:   "a user between a call and its output",
			body:   responding(itemHi + "," + callItemF + "," + itemSaid("user", "b") + "," + outputItem).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"b"}]}`,
			losses: "input[*].type shaping",
		},
		{
			name:   "R021 a free text that follows a grammar",
			body:   arming(`"type":"custom","name":"apply_patch","description":"Patch.","format":{"type":"grammar","syntax":"lark","definition":"start: x\n"}`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"apply_patch","description":"Patch.\n\nPut the raw text, as it is, into the member \"input\". It follows this grammar (lark):\nstart: x\n","parameters":{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}}}]}`,
			losses: "tools[*].format shaping",
		},
		{
			name: "a free text where the provider has it", traits: "custom_tools native",
			body: arming(grammarTool, `"tool_choice":{"type":"custom","name":"f"}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"d"}}}}],"tool_choice":{"type":"custom","custom":{"name":"f"}}}`,
		},
		{
			name: "the call of a free text",
			body: going(freeCallItem + `,{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"input\":\"x\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"go on"}]}`,
		},
		{
			name: "the call of a free text where the provider has it", traits: "custom_tools native",
			body: going(freeCallItem + `,{"type":"custom_tool_call_output","call_id":"c1","output":"r"}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"custom","custom":{"name":"f","input":"x"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"user","content":"go on"}]}`,
		},
		{
			name:   "R023 tools of a namespace",
			body:   responding(itemHi+`,{"type":"function_call","call_id":"c1","namespace":"mcp__x","name":"f","arguments":"{}"},`+outputItem, `"tools":[{"type":"namespace","name":"mcp__x","description":"d","tools":[{"type":"function","name":"f","parameters":{"type":"object"}},{"type":"function","name":"g"}]}]`, `"tool_choice":{"type":"function","name":"f","namespace":"mcp__x"}`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"mcp__x__f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"}],"tools":[{"type":"function","function":{"name":"mcp__x__f","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"mcp__x__g"}}],"tool_choice":{"type":"function","function":{"name":"mcp__x__f"}}}`,
			losses: "tools[*].description hint",
		},
		{
			// Both reached the provider before, and a call of the function came back as
			// one of the tool of the namespace.
			name:  "a function with the name that a tool of a namespace gets",
			body:  posing(`"tools":[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]`).body,
			fault: "tools[0].name: is what the name of another tool becomes for the provider",
		},
		{
			name: "R024 tools that an item adds",
			body: responding(`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"f"}]},`+itemHi, `"tools":[{"type":"function","name":"f","description":"old"},{"type":"function","name":"g"}]`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]}`,
		},
		{
			name:   "R025 a tool that the vendor runs",
			body:   arming(`"type":"function","name":"f"},{"type":"web_search"`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f"}}]}`,
			losses: "tools[*].type shaping",
		},
		{
			name: "some tools allowed",
			body: posing(`"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`, `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"g"}}],"tool_choice":"required"}`,
		},
		{
			name:   "a search of the client's for tools",
			body:   responding(itemHi+`,{"type":"tool_search_call","call_id":"c1","execution":"client","arguments":{"q":"x"}},{"type":"tool_search_output","call_id":"c1","execution":"client","tools":[{"type":"function","name":"k","defer_loading":true}]}`, `"tools":[{"type":"tool_search","execution":"client","description":"find","parameters":{"type":"object"}}]`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"tool_search","arguments":"{\"q\":\"x\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"k"}],"tools":[{"type":"function","function":{"name":"tool_search","description":"find","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"k"}}]}`,
			losses: "input[*].tools[*].defer_loading hint",
		},
		{
			name:   "a sealed block that only its provider can read",
			body:   pondering(`,"summary":[],"encrypted_content":"` + redactedSeal + `"`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"user","content":"go on"}]}`,
			losses: "input[*].summary shaping, input[*].encrypted_content shaping",
		},
		{
			name: "sealed thinking where texts go back", traits: "reasoning_replay reasoning",
			body:   pondering(`,"summary":[],"encrypted_content":"` + signedSeal + `"`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a","reasoning":"t"},{"role":"user","content":"go on"}]}`,
			losses: "input[*].encrypted_content hint",
		},
		{
			name: "reasoning that somebody else encrypted", traits: "reasoning_replay reasoning",
			body:   pondering(`,"summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"gAAA"`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a","reasoning":"a\n\nb"},{"role":"user","content":"go on"}]}`,
			losses: "input[*].encrypted_content shaping",
		},
		{
			name: "R015 reasoning that leads to nothing", traits: "reasoning_replay reasoning",
			body:   going(`{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}]}`).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"user","content":"go on"}]}`,
			losses: "input[*].summary shaping",
		},
		{
			name: "reasoning between two calls", traits: "reasoning_replay reasoning",
			body: going(callItemF + `,{"type":"reasoning","summary":[{"type":"summary_text","text":"a"}]},{"type":"function_call","call_id":"c2","name":"g","arguments":"{}"},` + outputItem + `,{"type":"function_call_output","call_id":"c2","output":"r2"}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"reasoning":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"r"},{"role":"tool","tool_call_id":"c2","content":"r2"},{"role":"user","content":"go on"}]}`,
		},
		{
			name:   "what the vendor's tools did",
			body:   going(`{"type":"web_search_call","status":"completed"},` + itemSaid("assistant", "a")).body,
			want:   `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"user","content":"go on"}]}`,
			losses: "input[*] shaping",
		},
		{
			name: "images and files", traits: "files true",
			body: responding(`{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}]}]}`,
		},
		{
			name: "an image in an output",
			body: responding(itemHi + "," + callItemF + `,{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"t"},{"type":"input_image","image_url":"https://x/i.png"}]},` + itemSaid("user", "go")).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"t"},{"role":"user","content":[{"type":"text","text":"Images returned by tool call c1:"},{"type":"image_url","image_url":{"url":"https://x/i.png"}},{"type":"text","text":"go"}]}]}`,
		},
		{
			name: "a late text of the system", traits: "mid_system keep",
			body: going(itemSaid("assistant", "a") + "," + itemSaid("developer", "d")).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a"},{"role":"system","content":"d"},{"role":"user","content":"go on"}]}`,
		},
		{
			name: "texts of the system in front",
			body: responding(itemSaid("developer", "d")+","+itemHi, `"instructions":"s"`).body,
			want: `{"model":"up","messages":[{"role":"system","content":"s\n\nd"},{"role":"user","content":"hi"}]}`,
		},
		{
			name: "settings that change on the way", traits: "thinking_style adaptive; reasoning_effort low high",
			body: responding(itemHi+`,{"type":"configuration_update","reasoning":{"effort":"high"},"text":{"format":{"type":"text"}}}`, `"reasoning":{"effort":"low"}`, `"text":{"format":{"type":"json_object"}}`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}],"reasoning_effort":"high"}`,
		},
		{
			name: "a schema", traits: "extensions verbosity",
			body: posing(`"text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":false},"verbosity":"low"}`, `"max_output_tokens":50`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}],"max_tokens":50,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"},"strict":false}},"verbosity":"low"}`,
		},
		{
			name: "probabilities",
			body: posing(`"include":["message.output_text.logprobs"]`, `"top_logprobs":2`).body,
			want: `{"model":"up","messages":[{"role":"user","content":"hi"}],"logprobs":true,"top_logprobs":2}`,
		},
	})
}

func TestResponsesRequestsTowardsCompletions(t *testing.T) {
	runRenderCases(t, translate.Responses, translate.Completions, []renderCase{
		{
			name: "a text", traits: "prompt_template chatml",
			body: posing().body,
			want: `{"model":"up","prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n","stop":["<|im_end|>"]}`,
		},
		{
			name: "a string as the input, and instructions", traits: "prompt_template chatml",
			body: `{"model":"m1","input":"hi","instructions":"s"}`,
			want: `{"model":"up","prompt":"<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n","stop":["<|im_end|>"]}`,
		},
		{
			name: "what the vendor's tools did", traits: "prompt_template chatml",
			body:   going(`{"type":"web_search_call","status":"completed"},` + itemSaid("assistant", "a")).body,
			want:   `{"model":"up","prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n<|im_start|>user\ngo on<|im_end|>\n<|im_start|>assistant\n","stop":["<|im_end|>"]}`,
			losses: "input[*] shaping",
		},
		{
			name: "images and files", traits: "files true; prompt_template chatml",
			body:  responding(`{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"low"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}]}`).body,
			fault: "input[0].content[1].type: 'input_image' cannot be translated for model 'm1' (upstream format completions)",
		},
		{
			name: "a late text of the system", traits: "mid_system keep; prompt_template chatml",
			body: going(itemSaid("assistant", "a") + "," + itemSaid("developer", "d")).body,
			want: `{"model":"up","prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\na<|im_end|>\n<|im_start|>system\nd<|im_end|>\n<|im_start|>user\ngo on<|im_end|>\n<|im_start|>assistant\n","stop":["<|im_end|>"]}`,
		},
		{
			name: "texts of the system in front", traits: "prompt_template chatml",
			body: responding(itemSaid("developer", "d")+","+itemHi, `"instructions":"s"`).body,
			want: `{"model":"up","prompt":"<|im_start|>system\ns\n\nd<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n","stop":["<|im_end|>"]}`,
		},
		{
			name: "probabilities", traits: "prompt_template chatml",
			body: posing(`"include":["message.output_text.logprobs"]`, `"top_logprobs":2`).body,
			want: `{"model":"up","prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n","stop":["<|im_end|>"],"logprobs":2}`,
		},
	})
}

// The texts of reasoning were copied anew for each further part: a request of a few
// megabytes kept a processor busy for minutes.
func TestReasoningOfManyPartsIsCopiedOnce(t *testing.T) {
	const parts = 20_000
	part := `{"type":"summary_text","text":"a"}`
	body := []byte(`{"model":"m","input":[{"type":"reasoning","summary":[` + part + strings.Repeat(","+part, parts-1) + `]},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`)
	info := &core.RequestInfo{Model: "m", Upstream: "up", Traits: traitsOf(t, "reasoning_replay reasoning"), Seals: sealer}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _, fault := pairs.Render(nil, translate.Responses, translate.Chat, body, info)
	runtime.ReadMemStats(&after)
	require.Nil(t, fault)
	assert.Equal(t, parts-1, strings.Count(string(out), `\n\na`))
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

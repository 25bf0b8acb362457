package pairs_test

import (
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

const (
	called   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	toolUse  = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
	resulted = `{"role":"tool","tool_call_id":"c1","content":"r"}`
	result   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"}]}`
)

func TestUserTurnsTowardsChat(t *testing.T) {
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{name: "a text", body: conversation(`{"role":"user","content":"a\u00e9<&>\"\\"}`), want: asked(`{"role":"user","content":"a\u00e9<&>\"\\"}`)},
		{name: "one block", body: conversation(`{"role":"user","content":[{"type":"text","text":"a"}]}`), want: asked(`{"role":"user","content":"a"}`)},
		{
			name: "members of a block in any order", body: conversation(`{"role":"user","content":[{"text":"a","type":"t\u0065xt"}]}`),
			want: asked(`{"role":"user","content":"a"}`),
		},
		{
			name: "several blocks are lines", body: conversation(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`),
			want: asked(`{"role":"user","content":"a\nb"}`),
		},
		{
			name: "several blocks as parts", traits: "tool_content parts",
			body: conversation(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`),
			want: asked(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`),
		},
		{
			name: "empty blocks are no text", body: conversation(`{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"b"}]},{"role":"user","content":""},{"role":"user","content":[]}`),
			want: asked(`{"role":"user","content":"b"}`), losses: "messages.* hint",
		},
		{name: "an assistant that says nothing", body: conversation(hi + `,{"role":"assistant","content":""},{"role":"assistant","content":null},` + hi), want: asked(hi + `,` + hi), losses: "messages.* hint"},
		{name: "a system turn that says nothing", body: conversation(hi + `,{"role":"system","content":""}`), want: asked(hi), losses: "messages.* hint"},
		{name: "an empty text beside a result", body: conversation(hi + `,` + toolUse + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"text","text":""}]}`), want: asked(hi + `,` + called + `,` + resulted)},
		{name: "nothing to say at all", body: conversation(`{"role":"user","content":""}`), fault: "messages: must hold at least one message with content"},
		{name: "turns of one role stay apart", body: conversation(hi + `,` + hi), want: asked(hi + `,` + hi)},
		{name: "alternation joins them", traits: "alternation on", body: conversation(hi + `,` + hi + `,` + hi), want: asked(`{"role":"user","content":"hi\n\nhi\n\nhi"}`)},
		{
			name: "alternation joins parts", traits: "alternation on",
			body: conversation(hi + `,{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"}}]},` + hi),
			want: asked(`{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"hi"}]}`),
		},
		{
			name: "alternation joins calls to what was said before", traits: "alternation on",
			body: conversation(hi + `,{"role":"assistant","content":"a"},` + toolUse + `,` + result),
			want: asked(hi + `,{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},` + resulted),
		},
		{
			name: "alternation leaves results apart", traits: "alternation on",
			body: conversation(hi + `,` + toolUse + `,` + toolUse + `,` + result + `,` + result),
			want: asked(hi + `,` + called + `,` + called + `,` + resulted + `,` + resulted),
		},
		{
			name: "a breakpoint", traits: "cache_breakpoints on",
			body:   conversation(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"c"}]}`),
			want:   asked(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"text","text":"c"}]}`),
			losses: "messages.*.content.*.cache_control.ttl hint",
		},
		{
			name: "a breakpoint in the system text", traits: "cache_breakpoints on", body: conversation(hi, `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]`),
			want: asked(`{"role":"system","content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"text","text":"b"}]},` + hi),
		},
		{
			name:   "what blocks say of caches and citations",
			body:   conversation(`{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"},"citations":[{}],"odd":1}],"id":"m"}`),
			want:   asked(`{"role":"user","content":"a"}`),
			losses: "messages.*.content.*.odd hint, messages.*.content.*.citations hint, messages.*.content.*.cache_control hint, messages.*.id hint",
		},
		{name: "an unknown block", body: conversation(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"hologram"}]}`), fault: "messages.0.content.1.type: 'hologram'" + notM1 + "chat)"},
	})
}

func TestAssistantTurnsTowardsChat(t *testing.T) {
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{name: "a text", body: conversation(hi + `,{"role":"assistant","content":"a"},` + hi), want: asked(hi + `,{"role":"assistant","content":"a"},` + hi)},
		{
			name: "texts are written as one", body: conversation(hi + `,{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]},` + hi),
			want: asked(hi + `,{"role":"assistant","content":"ab"},` + hi), losses: "messages.*.content.*.cache_control hint",
		},
		{
			name: "calls", body: conversation(hi + `,{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"f","input":{ "b" : 12345678901234567890, "a":[1.0e5, "x \" y"]},"caller":{"type":"direct"}},{"type":"tool_use","id":"c2","name":"g","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"},{"type":"tool_result","tool_use_id":"c2","content":"r"}]}`),
			want: asked(hi + `,{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"b\":12345678901234567890,\"a\":[1.0e5,\"x \\\" y\"]}"}},{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"c1","content":""},{"role":"tool","tool_call_id":"c2","content":"r"}`),
			losses: "messages.*.content.*.caller hint",
		},
		{
			name: "a text behind a call", body: conversation(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"text","text":"a"}]},` + result),
			want: asked(hi + `,{"role":"assistant","content":"a","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},` + resulted), losses: "messages.*.content shaping",
		},
		{
			name: "earlier reasoning", body: conversation(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"redacted_thinking","data":"d"}]},` + result),
			want: asked(hi + `,` + called + `,` + resulted), losses: "messages.*.content.*.thinking hint, messages.*.content.*.data hint",
		},
		{
			name: "earlier reasoning sent back", traits: "reasoning_replay reasoning_content",
			body: conversation(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"thinking","thinking":"u","signature":"gwts1:AAAAAAAAAAAAAAAAAAAAAA"},{"type":"text","text":"a"}]},` + hi),
			want: asked(hi + `,{"role":"assistant","content":"a","reasoning_content":"t\nu"},` + hi), losses: "messages.*.content.*.signature hint",
		},
		{
			name: "reasoning that nobody signed sent back, with a call without input", traits: "reasoning_replay reasoning_content",
			body: conversation(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"c1","name":"f"}]},` + result),
			want: asked(hi + `,{"role":"assistant","content":null,"reasoning_content":"t","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},` + resulted),
		},
		{
			name: "reasoning alone", traits: "reasoning_replay reasoning",
			body: conversation(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""}]},` + hi),
			want: asked(hi + `,{"role":"assistant","content":"","reasoning":"t"},` + hi),
		},
		{
			name: "a turn of nothing but reasoning goes", body: conversation(hi + `,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]},` + hi),
			want: asked(hi + `,` + hi), losses: "messages.*.content.*.thinking hint, messages.* hint",
		},
		{
			name: "a server tool and its result", body: conversation(hi + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"a","citations":[{"type":"x"}]}]},` + hi),
			want: asked(hi + `,{"role":"assistant","content":"a"},` + hi), losses: "messages.*.content.* shaping, messages.*.content.*.citations hint",
		},
		{
			name: "a paused turn", traits: "prefill native", body: conversation(hi + `,{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]}`),
			fault: "messages.1.content.1.type: 'server_tool_use'" + notM1 + "chat)",
		},
		{
			name: "a paused turn that is over", body: conversation(hi + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]},` + hi + `,{"role":"assistant","content":"b"},` + hi),
			want: asked(hi + `,` + hi + `,{"role":"assistant","content":"b"},` + hi), losses: "messages.*.content.* shaping, messages.* hint",
		},
		{name: "prefill", body: conversation(hi + `,{"role":"assistant","content":"The"}`), fault: "messages.1: an assistant message at the end, which asks to be continued," + notM1 + "chat): end with a user message"},
		{name: "prefill native", traits: "prefill native", body: conversation(hi + `,{"role":"assistant","content":"The"}`), want: asked(hi + `,{"role":"assistant","content":"The"}`)},
		{
			name: "prefill vllm", traits: "prefill vllm", body: conversation(hi + `,{"role":"assistant","content":"The"}`),
			want: asked(hi+`,{"role":"assistant","content":"The"}`, `"continue_final_message":true`, `"add_generation_prompt":false`),
		},
		{
			name: "ids of ours are given back", body: conversation(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"gwid1_ZnVuY3Rpb25zLmY6MA","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"gwid1_ZnVuY3Rpb25zLmY6MA"}]}`),
			want: asked(hi + `,{"role":"assistant","content":null,"tool_calls":[{"id":"functions.f:0","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"functions.f:0","content":""}`),
		},
		{
			name: "ids that only look like ours", body: conversation(hi + `,{"role":"assistant","content":[{"type":"tool_use","id":"gwid1_%","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"gwid1_%"}]}`),
			want: asked(hi + `,{"role":"assistant","content":null,"tool_calls":[{"id":"gwid1_%","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"gwid1_%","content":""}`),
		},
	})
}

func TestLaterSystemTurnsTowardsChat(t *testing.T) {
	mid := `{"role":"system","content":"m"}`
	said := `{"role":"assistant","content":"a"}`
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{name: "kept", body: conversation(hi+`,`+mid, `"system":"s"`), want: asked(`{"role":"system","content":"s"},` + hi + `,` + mid)},
		{name: "kept as developer", traits: "system_role developer", body: conversation(hi + `,` + mid), want: asked(hi + `,{"role":"developer","content":"m"}`)},
		{name: "as a text of the user", traits: "system_role user", body: conversation(hi+`,`+mid, `"system":"s"`), want: asked(`{"role":"user","content":"s\n\nhi\n\nm"}`), losses: "messages.*.role shaping, system shaping"},
		{name: "only the system as the user", traits: "system_role user", body: conversation(said+`,`+hi, `"system":"s"`), want: asked(`{"role":"user","content":"s"},` + said + `,` + hi), losses: "system shaping"},
		{
			name: "in front of parts of the user", traits: "system_role user", body: conversation(`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.example/b"}}]}`, `"system":"s"`),
			want: asked(`{"role":"user","content":[{"type":"text","text":"s"},{"type":"image_url","image_url":{"url":"https://a.example/b"}}]}`), losses: "system shaping",
		},
		{
			name: "kept as blocks", body: conversation(hi + `,{"role":"system","content":[{"type":"text","text":"m","cache_control":{"type":"ephemeral"}},{"type":"text","text":"n"}]}`),
			want: asked(hi + `,{"role":"system","content":"m\n\nn"}`), losses: "messages.*.content.*.cache_control hint",
		},
		{
			name: "hoisted", traits: "mid_system hoist", body: conversation(hi+`,`+mid, `"system":"s"`),
			want: asked(`{"role":"system","content":"s\n\nm"},` + hi), losses: "messages.*.role shaping",
		},
		{
			// A bug was here: what a late turn without a text left behind made the system prompt a late turn, too.
			name: "a system prompt behind a late turn that says nothing", traits: "mid_system hoist",
			body: conversation(hi+`,{"role":"system","output_config":{"effort":"low"}}`, `"system":"s"`), want: asked(`{"role":"system","content":"s"},` + hi), losses: "messages.*.output_config.effort shaping",
		},
		{name: "hoisted to none", traits: "mid_system hoist", body: conversation(hi + `,` + mid), want: asked(`{"role":"system","content":"m"},` + hi), losses: "messages.*.role shaping"},
		{
			name: "hoisted as parts", traits: "mid_system hoist; cache_breakpoints on",
			body: conversation(hi+`,{"role":"system","content":[{"type":"text","text":"m","cache_control":{"type":"ephemeral"}}]}`, `"system":"s"`),
			want: asked(`{"role":"system","content":[{"type":"text","text":"s"},{"type":"text","text":"m","prompt_cache_breakpoint":{"mode":"explicit"}}]},` + hi), losses: "messages.*.role shaping",
		},
		{name: "said by the user", traits: "mid_system user", body: conversation(hi + `,` + mid), want: asked(hi + `,{"role":"user","content":"m"}`), losses: "messages.*.role shaping"},
		{name: "refused", traits: "mid_system refuse", body: conversation(hi + `,` + mid), fault: "messages.1.role: role 'system' is not supported on this model"},
		{name: "in front, where none may come later", traits: "mid_system refuse", body: conversation(mid+`,`+hi, `"system":"s"`), want: asked(`{"role":"system","content":"s\n\nm"},` + hi)},
		{name: "in front, where later ones are the user's", traits: "mid_system user", body: conversation(mid + `,` + hi + `,` + mid), want: asked(`{"role":"system","content":"m"},` + hi + `,{"role":"user","content":"m"}`), losses: "messages.*.role shaping"},
		{
			name: "joined to the first", traits: "alternation on", body: conversation(mid+`,`+hi, `"system":"s"`),
			want: asked(`{"role":"system","content":"s\n\nm"},` + hi),
		},
		{
			name: "not a text", body: conversation(hi + `,{"role":"system","content":[{"type":"tool_removal","name":"f"}]}`),
			fault: "messages.1.content.0.type: 'tool_removal'" + notM1 + "chat)",
		},
		{
			name: "cleared once the user speaks", body: conversation(hi + `,{"role":"system","content":"gone","clear_at":"next_user_message"},` + said + `,` + hi + `,{"role":"system","content":"stays","clear_at":"next_user_message"}`),
			want: asked(hi + `,` + said + `,` + hi + `,{"role":"system","content":"stays"}`),
		},
		{
			name: "not cleared by results", body: conversation(hi + `,{"role":"system","content":"stays","clear_at":"next_user_message"},` + toolUse + `,` + result),
			want: asked(hi + `,{"role":"system","content":"stays"},` + called + `,` + resulted),
		},
		{
			name: "never cleared", body: conversation(hi + `,{"role":"system","content":"stays","clear_at":"never"},` + said + `,` + hi),
			want: asked(hi + `,{"role":"system","content":"stays"},` + said + `,` + hi),
		},
		{
			name: "its effort", traits: "reasoning_effort on", body: conversation(hi+`,{"role":"system","output_config":{"effort":"low"}}`, `"output_config":{"effort":"high"}`),
			want: asked(hi, `"reasoning_effort":"low"`),
		},
		{
			name: "its effort holds through results", traits: "reasoning_effort on", body: conversation(hi + `,{"role":"system","output_config":{"effort":"low"}},` + toolUse + `,` + result),
			want: asked(hi+`,`+called+`,`+resulted, `"reasoning_effort":"low"`),
		},
		{
			name: "its effort ends with the turn", traits: "reasoning_effort on", body: conversation(hi+`,{"role":"system","output_config":{"effort":"low","pace":1}},`+hi, `"output_config":{"effort":"high"}`),
			want: asked(hi+`,`+hi, `"reasoning_effort":"high"`), losses: "messages.*.output_config.pace hint, messages.*.output_config.effort hint",
		},
		{
			name: "an effort that is no word", body: conversation(hi + `,{"role":"system","output_config":{"effort":3}}`),
			fault: "messages.1.output_config.effort: must be a string",
		},
	})
}

func TestToolResultsTowardsChat(t *testing.T) {
	request := func(content string, more ...string) string {
		var extra strings.Builder
		for _, m := range more {
			extra.WriteString("," + m)
		}
		return conversation(hi + `,` + toolUse + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1"` + content + `}` + extra.String() + `]}`)
	}
	answered := func(content string, more string) string {
		return asked(hi + `,` + called + `,{"role":"tool","tool_call_id":"c1","content":` + content + `}` + more)
	}
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`
	part := `{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`
	label := `{"type":"text","text":"Images returned by tool call c1:"}`
	elsewhere := `"[image returned by this tool is in the next user message]"`
	runRenderCases(t, translate.Messages, translate.Chat, []renderCase{
		{name: "no content", body: request(``), want: answered(`""`, "")},
		{name: "a text", body: request(`,"content":"a\tb","cache_control":{"type":"ephemeral"},"toolset_name":"x"`), want: answered(`"a\tb"`, ""), losses: "messages.*.content.*.toolset_name hint, messages.*.content.*.cache_control hint"},
		{
			name: "texts", body: request(`,"content":[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]`),
			want: answered(`"a\nb"`, ""), losses: "messages.*.content.*.content.*.cache_control hint",
		},
		{
			name: "texts as parts", traits: "tool_content parts", body: request(`,"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`),
			want: answered(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, ""),
		},
		{name: "a text beside it", body: request(`,"content":"a"`, `{"type":"text","text":"b"}`), want: answered(`"a"`, `,{"role":"user","content":"b"}`)},
		{
			name: "texts between results move behind them, in their order", body: conversation(hi + `,` + toolUse + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"r"},{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"c2","content":"s"},{"type":"text","text":"b"}]}`),
			want:   asked(hi + `,` + called + `,` + resulted + `,{"role":"tool","tool_call_id":"c2","content":"s"},{"role":"user","content":"a\nb"}`),
			losses: "messages.*.content shaping",
		},
		{
			name: "a text before it moves behind", body: conversation(hi + `,` + toolUse + `,{"role":"user","content":[{"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"c1","content":"a"},{"type":"tool_result","tool_use_id":"c2"}]}`),
			want: answered(`"a"`, `,{"role":"tool","tool_call_id":"c2","content":""},{"role":"user","content":"b"}`), losses: "messages.*.content shaping",
		},
		{name: "an image goes to the user", body: request(`,"content":[` + image + `]`), want: answered(elsewhere, `,{"role":"user","content":[`+label+`,`+part+`]}`)},
		{
			name: "an image goes to the user, its text stays", body: request(`,"content":[{"type":"text","text":"a"},`+image+`,`+image+`]`, `{"type":"text","text":"b"}`),
			want: answered(`"a"`, `,{"role":"user","content":[`+label+`,`+part+`,`+part+`,{"type":"text","text":"b"}]}`),
		},
		{
			name: "images go behind the whole run", body: request(`,"content":[`+image+`]`, `{"type":"tool_result","tool_use_id":"c2","content":[`+image+`]}`),
			want: answered(elsewhere, `,{"role":"tool","tool_call_id":"c2","content":`+elsewhere+`},{"role":"user","content":[`+label+`,`+part+`,{"type":"text","text":"Images returned by tool call c2:"},`+part+`]}`),
		},
		{
			name: "an image stays", traits: "tool_images inline", body: request(`,"content":[{"type":"text","text":"a"},` + image + `]`),
			want: answered(`[{"type":"text","text":"a"},`+part+`]`, ""),
		},
		{name: "an error", body: request(`,"content":"no such file","is_error":true`), want: answered(`"Error: no such file"`, "")},
		{
			name: "a breakpoint has no place in a result", traits: "cache_breakpoints on", body: request(`,"content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral"}`),
			want: answered(`"a"`, ""), losses: "messages.*.content.*.content.*.cache_control hint, messages.*.content.*.cache_control hint",
		},
		{
			name: "unknown members at every level", body: request(`,"content":[{"type":"search_result","title":"T","source":"S","content":[{"type":"text","text":"a","odd":1}]},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"b","odd":1}],"odd":1}},{"type":"text","text":"c","odd":1}],"odd":1`, `{"type":"text","text":"d","even":1}`),
			want: answered(`"T\nS\na\nb\nc"`, `,{"role":"user","content":"d"}`),
			losses: "messages.*.content.*.content.*.content.*.odd hint, messages.*.content.*.content.*.source.odd hint, " +
				"messages.*.content.*.content.*.source.content.*.odd hint, messages.*.content.*.content.*.odd hint, messages.*.content.*.odd hint, messages.*.content.*.even hint",
		},
		{
			// A bug was here: if the request contained an image, the text that replaces a
			// document called the document an image.
			name: "a document elsewhere, behind an image of the user", traits: "files on",
			body: conversation(`{"role":"user","content":[` + image + `]},` + toolUse + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}]}`),
			want: asked(`{"role":"user","content":[` + part + `]},` + called + `,{"role":"tool","tool_call_id":"c1","content":"[document returned by this tool is in the next user message]"},` +
				`{"role":"user","content":[{"type":"text","text":"Documents returned by tool call c1:"},{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,AAAA"}}]}`),
		},
		{name: "no error", body: request(`,"content":"a","is_error":false`), want: answered(`"a"`, "")},
		{name: "an error that says so", body: request(`,"content":"ERROR: no","is_error":true`), want: answered(`"ERROR: no"`, "")},
		{name: "an error without words", body: request(`,"is_error":true`), want: answered(`"Error:"`, "")},
		{
			name: "an error in parts", traits: "tool_content parts", body: request(`,"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"is_error":true`),
			want: answered(`[{"type":"text","text":"Error: a"},{"type":"text","text":"b"}]`, ""),
		},
		{
			name: "an error of an image", traits: "tool_images inline", body: request(`,"content":[` + image + `],"is_error":true`),
			want: answered(`[{"type":"text","text":"Error:"},`+part+`]`, ""),
		},
		{
			name: "a tool found by a search", body: request(`,"content":[{"type":"text","text":"a"},{"type":"tool_reference","tool_name":"Web"}]`),
			want: answered(`"a\n[tool available: Web]"`, ""),
		},
		{
			name: "a document of text", body: request(`,"content":[{"type":"document","title":"T","source":{"type":"text","media_type":"text/plain","data":"d"}}]`),
			want: answered(`"T\nd"`, ""),
		},
		{
			name: "a search result", body: request(`,"content":[{"type":"search_result","title":"T","source":"S","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"citations":{"enabled":true}}]`),
			want: answered(`"T\nS\na\nb"`, ""), losses: "messages.*.content.*.content.*.citations shaping",
		},
		{
			name: "a file goes to the user", traits: "files on", body: request(`,"content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]`),
			want: answered(`"[document returned by this tool is in the next user message]"`, `,{"role":"user","content":[{"type":"text","text":"Documents returned by tool call c1:"},{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,AAAA"}}]}`),
		},
		{
			name: "a file that is left out of a result", traits: "files drop", body: request(`,"content":[{"type":"text","text":"a"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]`),
			want: answered(`"a\n[document.pdf was left out: this model does not support PDF input]"`, ""), losses: "messages.*.content.*.content.*.type shaping",
		},
	})
}

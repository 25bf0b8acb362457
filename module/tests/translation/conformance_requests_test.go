package translation_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// Parts that many cases share. In the members of a request, $ marks where the
// content of a case goes.
const (
	pixelPNG  = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}`
	pdf       = `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGVsbG8="}}`
	pixelPart = `{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}`
	schema    = `{"type":"object","properties":{}}`
	unsigned  = `{"type":"thinking","thinking":"hm"}`
	useB      = `{"type":"tool_use","id":"b","name":"f","input":{}}`
	callA     = `{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`
	callB     = `{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}`
)

func words(text string) string { return `{"type":"text","text":"` + text + `"}` }

func toolTurn(id, content string) string {
	return `{"role":"tool","tool_call_id":"` + id + `","content":` + content + `}`
}

// function is a tool of chat, and ours the same of messages.
func function(name string) string {
	return `{"type":"function","function":{"name":"` + name + `","parameters":` + schema + `}}`
}

func TestConformanceOfForwardedRequests(t *testing.T) {
	runAskings(t, []asking{
		{
			name: "G001 odd bytes without an alias", lane: "m>m",
			body: ` "max_tokens" :16 ,` + "\n\t" + `"unheard_of":{ "a" : [ 1,2 ] },"messages":[ {"role":"user","content":"caf\u00e9 <&>"},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"n":1234567890123456789012345678901234567890,"x":1.50}}]},` +
				says("user", result("a", `"ok"`)) + `]`,
		},
		{
			name: "G005 a thinking block that shows nothing but its signature", lane: "m>m",
			body: turnsOf(userText, says("assistant", `{"thinking":"","type":"thinking","signature":"abc"}`, words("y")), userText),
		},
		// A provider that signs no thinking (Ollama) got no second turn: its own
		// block, sent back, was refused on every lane.
		{
			name: "thinking without a signature, a call without input and an empty turn come back", lane: "m>m",
			body: turnsOf(userText, says("assistant", unsigned, `{"type":"tool_use","id":"a","name":"f"}`), says("user", result("a", `"ok"`)), `{"role":"assistant","content":null}`, userText),
		},
		{
			name: "thinking without a signature where none does", lane: "m>c",
			body: turnsOf(userText, says("assistant", unsigned, words("y")), userText), dropped: "messages.*.content.*.thinking",
			want: turnsOf(userText, `{"role":"assistant","content":"y"}`, userText),
		},
		{
			name: "thinking without a signature before a prompt", lane: "m>t",
			body: turnsOf(userText, says("assistant", unsigned, words("y")), userText), dropped: "messages.*.content.*.thinking",
			want: `"max_tokens":9,"prompt":"Human: x\n\nAssistant: y\n\nHuman: x\n\nAssistant:","stop":["\n\nHuman:"]`,
		},
		{
			name: "G006 a thinking block that the gateway signed", lane: "m>m",
			body: turnsOf(userText, `{"role":"assistant", "content":[ {"type":"thinking","thinking":"hm","signature":"gwts1:uC4heOz00MWFncLhadf-2A"}, {"type":"text",  "text":"y"} ]}`, userText),
			want: turnsOf(userText, `{"role":"assistant", "content":[ {"type":"text",  "text":"y"} ]}`, userText), dropped: "messages.*.content.*.thinking",
		},
		{
			name: "G008 the time of a cache breakpoint", lane: "m>m",
			body: `"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],` + oneTurn,
		},
		{name: "G010 a system message in the middle, as a text", lane: "m>m", body: turnsOf(userText, `{"role":"system","content":"be brief"}`)},
		{name: "G010 a system message in the middle, as blocks", lane: "m>m", body: turnsOf(userText, says("system", words("be brief")))},
		{name: "G045 prompts of tokens", lane: "t>t", body: `"max_tokens":3,"prompt":[[1,2],[3]]`},
		{name: "G111 a thread for a provider that keeps them", lane: "m>m", body: `"thread":{"type":"create"},` + oneTurn},
		{name: "G112 one key twice inside a schema", lane: "m>m", body: `"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string","type":"number"}}}}],` + oneTurn},
		{name: "G123 an effort of a system message without content", lane: "m>m", body: turnsOf(userText, `{"role":"system","output_config":{"effort":"high"}}`)},
		{
			name: "G123 an effort of a system message without content", lane: "m>c", traits: "reasoning_effort true",
			body: turnsOf(userText, `{"role":"system","output_config":{"effort":"high"}}`), want: `"reasoning_effort":"high",` + oneTurn,
		},
		{
			name: "G123 a system message until the next turn of the user", lane: "m>c",
			body: turnsOf(userText, `{"role":"system","content":"for now","clear_at":"next_user_message"}`, `{"role":"assistant","content":"y"}`, userText),
			want: turnsOf(userText, `{"role":"assistant","content":"y"}`, userText),
		},
	})
}

func TestConformanceOfMessagesTowardsChat(t *testing.T) {
	long := strings.Repeat("n", 90)
	runAskings(t, []asking{
		{
			name: "G007 a system prompt of blocks", lane: "m>c",
			body: `"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},` + words("b") + `],` + oneTurn,
			want: turnsOf(`{"role":"system","content":"a\n\nb"}`, userText), dropped: "system.*.cache_control",
		},
		{
			name: "G009 a system message in the middle stays there", lane: "m>c",
			body: turnsOf(userText, `{"role":"system","content":"be brief"}`), want: turnsOf(userText, `{"role":"system","content":"be brief"}`),
		},
		{
			name: "G011 a result, then words", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA), says("user", result("a", `"ok"`), words("go on"))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"ok"`), `{"role":"user","content":"go on"}`),
		},
		{
			name: "G012 words before two results", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA, useB), says("user", words("go on"), result("a", `"1"`), result("b", `"2"`))),
			want: turnsOf(userText, calls(callA, callB), toolTurn("a", `"1"`), toolTurn("b", `"2"`), `{"role":"user","content":"go on"}`), dropped: "messages.*.content",
		},
		{
			name: "G013 a call beside thinking that nobody may read", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA, `{"type":"redacted_thinking","data":"zz"}`), says("user", result("a", `"ok"`))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"ok"`)), dropped: "messages.*.content.*.data",
		},
		{
			name: "G014 a result of two texts", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA), says("user", result("a", "["+words("1")+","+words("2")+"]"))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"1\n2"`)),
		},
		{
			name: "G015 a result that is an image", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA), says("user", result("a", "["+pixelPNG+"]"))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"[image returned by this tool is in the next user message]"`),
				says("user", words("Images returned by tool call a:"), pixelPart)),
		},
		{
			name: "G016 two results, the first with an image", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA, useB), says("user", result("a", "["+words("see")+","+pixelPNG+"]"), result("b", `"2"`))),
			want: turnsOf(userText, calls(callA, callB), toolTurn("a", `"see"`), toolTurn("b", `"2"`), says("user", words("Images returned by tool call a:"), pixelPart)),
		},
		{
			name: "G017 an image", lane: "m>c", body: turnsOf(says("user", strings.Replace(pixelPNG, "png", "jpeg", 1))),
			want: turnsOf(says("user", strings.Replace(pixelPart, "png", "jpeg", 1))),
		},
		{
			name: "G018 a result that is an error", lane: "m>c",
			body: turnsOf(userText, says("assistant", useA), says("user", strings.Replace(result("a", `"no such file"`), "{", `{"is_error":true,`, 1))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"Error: no such file"`)),
		},
		{name: "G019 a tool without a type", lane: "m>c", body: `"tools":[` + ours("f", "") + `],` + oneTurn, want: `"tools":[` + function("f") + `],` + oneTurn},
		{name: "G019 a tool of type null", lane: "m>c", body: `"tools":[` + ours("f", `"type":null,`) + `],` + oneTurn, want: `"tools":[` + function("f") + `],` + oneTurn},
		{name: "G019 a tool of type custom", lane: "m>c", body: `"tools":[` + ours("f", `"type":"custom",`) + `],` + oneTurn, want: `"tools":[` + function("f") + `],` + oneTurn},
		{name: "G020 a tool of the vendor", lane: "m>c", body: `"tools":[{"type":"web_search_20250305","name":"web_search"}],` + oneTurn, refused: "tools.0.type: 'web_search_20250305' "},
		{
			name: "G020 a tool of the vendor that may be left out", lane: "m>c", traits: "unsupported_tools drop",
			body: `"tools":[{"type":"web_search_20250305","name":"web_search"},` + ours("f", "") + `],` + oneTurn, want: `"tools":[` + function("f") + `],` + oneTurn, dropped: "tools.*.type",
		},
		{
			name: "G024 any tool, one at a time", lane: "m>c", body: `"tools":[` + ours("f", "") + `],"tool_choice":{"type":"any","disable_parallel_tool_use":true},` + oneTurn,
			want: `"tools":[` + function("f") + `],"tool_choice":"required","parallel_tool_calls":false,` + oneTurn,
		},
		{name: "G025 a choice among no tools", lane: "m>c", body: `"tools":[],"tool_choice":{"type":"auto"},` + oneTurn, want: oneTurn},
		{
			name: "G030 a call without arguments", lane: "m>c", body: turnsOf(userText, says("assistant", useA), says("user", result("a", `"ok"`))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"ok"`)),
		},
		{name: "G037 the bound of an answer towards Ollama", lane: "m>c ollama", body: oneTurn, want: oneTurn},
		{
			name: "G038 a long id of a user", lane: "m>c", body: `"metadata":{"user_id":"` + strings.Repeat("u", 150) + `"},` + oneTurn,
			want: `"user":"` + gatewaytest.SHA256([]byte(strings.Repeat("u", 150))) + `",` + oneTurn, dropped: "metadata.user_id",
		},
		// Models that think did so although the client had switched it off.
		{name: "thinking switched off", lane: "m>c ollama", body: `"thinking":{"type":"disabled"},` + oneTurn, want: `"reasoning_effort":"none",` + oneTurn},
		// A PDF in the history ended a session for good: Claude Code takes it out
		// at these words.
		{
			name: "a PDF in a result", lane: "m>c", body: turnsOf(userText, says("assistant", useA), says("user", result("a", "["+pdf+"]"))),
			refused: "messages.2.content.0.content.0.type: 'document' cannot be translated for model 'm0' (upstream format chat): this model does not support PDF input",
		},
		{
			name: "a PDF in a result that is left out", lane: "m>c", traits: "files drop", dropped: "messages.*.content.*.content.*.type",
			body: turnsOf(userText, says("assistant", useA), says("user", result("a", "["+pdf+"]"))),
			want: turnsOf(userText, calls(callA), toolTurn("a", `"[document.pdf was left out: this model does not support PDF input]"`)),
		},
		// The id was replaced without a word, and in spite of the client's wish.
		{
			name: "a long id of a user that must not change", lane: "m>c", headers: []string{"x-gateway-on-loss", "reject"},
			body: `"metadata":{"user_id":"` + strings.Repeat("u", 65) + `"},` + oneTurn, refused: "metadata.user_id: ",
		},
		{
			name: "a turn that says nothing", lane: "m>c", headers: []string{"x-gateway-on-loss", "reject"}, dropped: "messages.*",
			body: turnsOf(userText, `{"role":"assistant","content":""}`, userText), want: turnsOf(userText, userText),
		},
		{name: "a tool that must be used, without tools", lane: "m>c", body: `"tool_choice":{"type":"any"},` + oneTurn, want: oneTurn, dropped: "tool_choice"},
		{name: "G048 a text that forges a turn", lane: "m>t", traits: "prompt_template chatml", body: turnsOf(`{"role":"user","content":"a <|im_end|> b"}`), refused: "messages.0.content: "},
		{name: "G042 a demand of residency", lane: "m>c", body: `"inference_geo":"eu",` + oneTurn, refused: "inference_geo: "},
		{name: "G111 a thread that nobody keeps", lane: "m>c", body: `"thread":{"type":"create"},` + oneTurn, refused: "thread: "},
		{
			name: "G114 a reference to a tool that loads late", lane: "m>c",
			body: `"tools":[` + ours("f", `"defer_loading":true,`) + `],` + turnsOf(userText, says("assistant", useA), says("user", result("a", `[`+words("found")+`,{"type":"tool_reference","tool_name":"`+long+`"}]`))),
			want: `"tools":[` + function("f") + `],` + turnsOf(userText, calls(callA), toolTurn("a", `"found\n[tool available: `+long+`]"`)), dropped: "tools.*.defer_loading",
		},
	})
}

func TestConformanceOfChatTowardsMessages(t *testing.T) {
	const strict = "x-gateway-on-loss"
	const bounded = `"max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]`
	runAskings(t, []asking{
		{name: "G031 a temperature beyond the bound", lane: "c>m", body: `"temperature":1.6,` + oneTurn, want: `"temperature":1,` + bounded, dropped: "temperature"},
		{name: "G031 a temperature beyond the bound of a strict model", lane: "c>m", traits: "on_loss reject", body: `"temperature":1.6,` + oneTurn, refused: "temperature: "},
		{name: "G121 a strict client", lane: "c>m", body: `"temperature":1.6,` + oneTurn, headers: []string{strict, "reject"}, refused: "temperature: "},
		{name: "G121 a lax client of a strict model", lane: "c>m", traits: "on_loss reject", body: `"temperature":1.6,` + oneTurn, headers: []string{strict, "warn"}, refused: "temperature: "},
		{name: "G121 a client that is neither", lane: "c>m", body: oneTurn, headers: []string{strict, "maybe"}, refused: strict + ": "},
		{name: "G032 one way of sampling", lane: "c>m", traits: "sampling one", body: `"temperature":0.5,"top_p":0.5,` + oneTurn, want: `"temperature":0.5,` + bounded, dropped: "top_p"},
		{name: "G033 a version that refuses sampling", lane: "c>m", traits: "anthropic_version 2026-10-21", body: `"temperature":0.2,` + oneTurn, want: bounded, dropped: "temperature"},
		{name: "G021 a tool of type custom", lane: "c>m", body: `"tools":[{"type":"custom","custom":{"name":"g"}}],` + oneTurn, refused: "tools[0].type: 'custom' "},
		{name: "G021 a tool of the vendor", lane: "c>m", body: `"tools":[` + function("f") + `,{"type":"web_search"}],` + oneTurn, refused: "tools[1].type: 'web_search' "},
		{
			name: "G022 a schema without a type", lane: "c>m", body: `"tools":[` + strings.Replace(function("f"), `"type":"object",`, "", 1) + `],` + oneTurn,
			want: `"tools":[` + ours("f", "") + `],` + bounded,
		},
		{
			name: "G023 some of the tools, one at a time", lane: "c>m", body: `"tools":[` + function("f") + `,` + function("g") + `],` +
				`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}},"parallel_tool_calls":false,` + oneTurn,
			want: `"tools":[` + ours("g", "") + `],"tool_choice":{"type":"any","disable_parallel_tool_use":true},` + bounded,
		},
		{
			name: "G027 three results, then words", lane: "c>m",
			body: turnsOf(userText, calls(callA, callB, strings.ReplaceAll(callA, `"a"`, `"c"`)), toolTurn("a", `"1"`), toolTurn("b", `"2"`), toolTurn("c", `"3"`), `{"role":"user","content":"go on"}`),
			want: turnsOf(says("user", words("x")), says("assistant", useA, useB, strings.ReplaceAll(useA, `"a"`, `"c"`)),
				says("user", result("a", `"1"`), result("b", `"2"`), result("c", `"3"`), words("go on"))),
		},
		{
			name: "G028 a call beside an empty text", lane: "c>m", body: turnsOf(userText, strings.Replace(calls(callA), "null", `""`, 1), toolTurn("a", `"ok"`)),
			want: turnsOf(says("user", words("x")), says("assistant", useA), says("user", result("a", `"ok"`))),
		},
		{
			name: "G029 a call of empty arguments", lane: "c>m", body: turnsOf(userText, calls(strings.Replace(callA, `"{}"`, `""`, 1)), toolTurn("a", `"ok"`)),
			want: turnsOf(says("user", words("x")), says("assistant", useA), says("user", result("a", `"ok"`))),
		},
		{
			name: "G040 a later system text", lane: "c>m", body: turnsOf(`{"role":"system","content":"a"}`, userText, `{"role":"system","content":"b"}`),
			want: `"system":[` + words("a") + `,` + words("b") + `],` + bounded, dropped: "messages[*].role",
		},
		{
			name: "G040 a later system text that stays", lane: "c>m", traits: "mid_system keep", body: turnsOf(`{"role":"system","content":"a"}`, userText, `{"role":"system","content":"b"}`),
			want: `"system":[` + words("a") + `],` + turnsOf(says("user", words("x")), says("system", words("b"))),
		},
		{name: "G036 no bound", lane: "c>m", body: chatTurn, want: strings.Replace(bounded, "9", "4096", 1), dropped: "max_tokens"},
		{name: "G039 a user that is a mail address", lane: "c>m", body: `"user":"a@b.c",` + oneTurn, want: `"metadata":{"user_id":"` + gatewaytest.SHA256([]byte("a@b.c")) + `"},` + bounded, dropped: "user"},
		{
			name: "G041 tool history without signed thinking", lane: "c>m", traits: "thinking_style budget",
			body: `"reasoning_effort":"high","max_tokens":9999,"messages":[` + userText + `,` + calls(callA) + `,` + toolTurn("a", `"ok"`) + `]`,
			want: `"max_tokens":9999,"messages":[` + says("user", words("x")) + `,` + says("assistant", useA) + `,` + says("user", result("a", `"ok"`)) + `]`, dropped: "reasoning_effort",
		},
		{name: "G122 any object, refused", lane: "c>m", traits: "json_object refuse", body: `"response_format":{"type":"json_object"},` + oneTurn, refused: "response_format.type: "},
		{
			name: "G122 any object, asked for in words", lane: "c>m", body: `"response_format":{"type":"json_object"},` + oneTurn,
			want: `"system":[` + words("Answer with one JSON object and nothing else.") + `],` + bounded, dropped: "response_format.type",
		},
	})
}

func TestConformanceOfCompletionsAsConversations(t *testing.T) {
	user := func(text string) string { return turnsOf(`{"role":"user","content":[` + words(text) + `]}`) }
	runAskings(t, []asking{
		{name: "G034 more samples than are shown", lane: "t>m", body: `"prompt":"x","n":2,"best_of":3`, refused: "best_of: "},
		{name: "G044 a prompt of tokens", lane: "t>c", body: `"prompt":[1,2,3]`, refused: "prompt"},
		{name: "G047 a suffix", lane: "t>m", body: `"prompt":"x","suffix":"x"`, refused: "suffix: "},
		{
			name: "G047 a suffix asked for in words", lane: "t>m", traits: "suffix instruct", body: `"prompt":"x","max_tokens":9,"suffix":"y"`,
			want: `"system":[` + words("Write only the text that belongs between PREFIX and SUFFIX.") + `],` + user(`PREFIX:\nx\n\nSUFFIX:\ny`), dropped: "suffix",
		},
		{name: "G047 an empty suffix", lane: "t>m", body: `"prompt":"x","max_tokens":9,"suffix":""`, want: user("x")},
	})
}

// member checks of a client's JSON come before the model is known.
func TestConformanceOfDoubtfulNames(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>m", ""})
		for name, body := range map[string]string{
			"G004 two models":                        `{"model":"m0","max_tokens":9,"messages":[` + userText + `],"model":"m0"}`,
			"G112 a model in two cases":              `{"model":"m0","MODEL":"m0",` + oneTurn + `}`,
			"G112 a model and the same escaped":      `{"model":"m0","mod\u0065l":"m0",` + oneTurn + `}`,
			"G112 a message that has its role twice": `{"model":"m0",` + turnsOf(`{"role":"user","role":"user","content":"x"}`) + `}`,
		} {
			t.Run(name, func(t *testing.T) {
				answer := s.Ask(site.MessagesPath, body)
				assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
				path := "model"
				if strings.Contains(name, "role") {
					path = "messages.0.role"
				}
				assert.Equal(t, path+": must appear once, letter case ignored", answer.Failure(t).Message)
			})
		}
		assert.Zero(t, s.p.Count())
	})
}

func TestG002OnlyTheNameOfTheModelIsReplaced(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		p := gatewaytest.NewProvider(t)
		s := site.Start(t, w.Provider("p", p, "models none"), "model alias {\nto p/vendor-x\n}")
		body := `{"max_tokens":9, "messages":[{"role":"user","content":"the \"model\":\"alias\" and alias"}],"metadata":{"user_id":"alias"}, "model" : "alias" }`
		answer := s.Ask(site.MessagesPath, body)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assert.Equal(t, strings.Replace(body, `"model" : "alias"`, `"model" : "vendor-x"`, 1), string(p.Requests()[0].Body))
		assert.Equal(t, "alias", answer.Header.Get("X-Gateway-Model"))
	})
}

func TestG026ALongNameOfAToolComesBackAsItWas(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"m>c", ""})
		name := "files.read/" + strings.Repeat("n", 79)
		body := `{"model":"m0","tools":[` + ours(name, "") + `],"tool_choice":{"type":"tool","name":"` + name + `"},` + strings.Replace(oneTurn, "9", "999", 1)
		for _, more := range []string{"}", `,"stream":true}`} {
			answer := s.Ask(site.MessagesPath, body+more)
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			assert.Contains(t, answer.Body, `"name":"`+name+`"`)
			assert.NotContains(t, s.last(), name)
			assert.Regexp(t, `"name":"[A-Za-z0-9_-]{55}_[0-9a-f]{8}"`, s.last())
		}
	})
}

func TestG035AStopOfWhiteSpaceIsTheGatewaysToKeep(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"c>m", ""})
		s.p.Script(gatewaytest.Body(http.StatusOK, "application/json", []byte(
			`{"id":"msg_1","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"one\ntwo"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":4}}`)))
		answer := s.Ask(site.ChatPath, `{"model":"m0","stop":"\n",`+oneTurn+`}`)
		require.Equal(t, http.StatusOK, answer.Status, answer.Body)
		assertHolds(t, `{"choices":[{"index":0,"message":{"content":"one"},"finish_reason":"stop"}]}`, answer.Body)
		assert.NotContains(t, s.last(), "stop")
		assert.NotContains(t, answer.Header, "X-Gateway-Dropped")
	})
}

func TestG046AnEchoBeginsWithThePrompt(t *testing.T) {
	site.EitherWay(t, func(t *testing.T, w site.Way) {
		s := startConforming(t, w, [2]string{"t>m", ""})
		for _, streaming := range []bool{false, true} {
			answer := s.Ask(site.CompletionsPath, strings.Replace(site.BodyFor(site.CompletionsPath, "m0", "Once upon", streaming), "{", `{"echo":true,`, 1))
			require.Equal(t, http.StatusOK, answer.Status, answer.Body)
			if streaming {
				assert.True(t, strings.HasPrefix(answer.Read(t, site.CompletionsPath).Text(), "Once upon"), answer.Body)
			} else {
				assert.Contains(t, answer.Body, `"text":"Once upon`)
			}
			assert.NotContains(t, s.last(), "echo")
		}
	})
}

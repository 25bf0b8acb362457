package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// spellings are ways to write the number of a card so that a model still reads it.
var spellings = map[string]string{
	"digits":                 "4111111111111111",
	"hyphens":                "4111-1111-1111-1111",
	"wide digits":            "４１１１ １１１１ １１１１ １１１１",
	"mathematical digits":    "𝟒𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏",
	"spaces without a width": "4111\u200b1111\u200b1111\u200b1111",
	"soft hyphens":           "41\u00ad11\u00ad1111\u00ad11111111",
	"another direction":      "4111\u202e1111\u202c11111111",
	"spaces that do not end": "4111\u00a01111\u202f1111\u20071111",
	"tags of characters":     "4111\U000e00011111\U000e007f11111111",
	"dashes":                 "4111–1111—1111‑1111",
	"digits of Arabic":       "٤١١١ ١١١١ ١١١١ ١١١١",
	"digits of Devanagari":   "४१११ ११११ ११११ ११११",
	"selectors of variants":  "4\ufe0f111\ufe0f1111\ufe0f11111111",
}

func quoted(text string) string {
	raw, _ := json.Marshal(text) // a text can be written
	return string(raw)
}

// escaped returns a JSON string in which every character is an escape.
func escaped(text string) string {
	var out strings.Builder
	for _, r := range text {
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return `"` + out.String() + `"`
}

// Whoever knows the guard writes around it. No spelling of a number passes that leaves its digits
// in their order.
func TestNoSpellingOfANumberPassesAGuard(t *testing.T) {
	s, p := guarded(t, pii)
	for name, text := range spellings {
		for _, path := range site.ClientPaths {
			answer := s.Ask(path, site.BodyFor(path, "m", "my card is "+text, false))
			assert.Equal(t, http.StatusBadRequest, answer.Status, "%s %s", path, name)
			assert.NotContains(t, answer.Body, text)
		}
	}
	for name, content := range map[string]string{"escapes of JSON": escaped(card)} {
		answer := s.Ask(site.ChatPath, `{"model":"m","messages":[{"role":"user","content":`+content+`}]}`)
		assert.Equal(t, http.StatusBadRequest, answer.Status, name)
	}
	assert.Zero(t, p.Count(), "no provider got one of them")
}

// A number that is divided, or in a part of a request that no person reads, passes no guard;
// TestNoWayAroundAGuard has more of them.
func TestNoPlaceInARequestPassesAGuard(t *testing.T) {
	s, p := guarded(t, pii)
	const call = `{"id":"call_1","type":"function","function":{"name":"pay","arguments":`
	chat := func(messages, more string) string { return `{"model":"m"` + more + `,"messages":[` + messages + `]}` }
	messages := func(content, more string) string {
		return `{"model":"m","max_tokens":9` + more + `,"messages":[{"role":"user","content":` + content + `}]}`
	}
	ask := `{"role":"user","content":"hello"}`
	for name, request := range map[string]struct{ path, body string }{
		"a developer message":           {site.ChatPath, chat(`{"role":"developer","content":"`+card+`"},`+ask, "")},
		"an earlier answer":             {site.ChatPath, chat(ask+`,{"role":"assistant","content":"`+card+`"},`+ask, "")},
		"a call of a chat tool":         {site.ChatPath, chat(ask+`,{"role":"assistant","tool_calls":[`+call+quoted(`{"card":"`+card+`"}`)+`}}]},{"role":"tool","tool_call_id":"call_1","content":"x"}`, "")},
		"escapes in a call":             {site.ChatPath, chat(ask+`,{"role":"assistant","tool_calls":[`+call+quoted(`{"card":`+escaped(card)+`}`)+`}}]},{"role":"tool","tool_call_id":"call_1","content":"x"}`, "")},
		"a number in a call":            {site.ChatPath, chat(ask+`,{"role":"assistant","tool_calls":[`+call+quoted(`{"card":4111111111111111}`)+`}}]},{"role":"tool","tool_call_id":"call_1","content":"x"}`, "")},
		"the schema of a tool":          {site.ChatPath, chat(ask, `,"tools":[{"type":"function","function":{"name":"pay","parameters":{"type":"object","properties":{"card":{"enum":["`+card+`"]}}}}}]`)},
		"the format of an answer":       {site.ChatPath, chat(ask, `,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"description":"`+card+`"}}}`)},
		"a stop sequence":               {site.ChatPath, chat(ask, `,"stop":["`+card+`"]`)},
		"metadata":                      {site.ChatPath, chat(ask, `,"metadata":{"note":"`+card+`"}`)},
		"a long string":                 {site.ChatPath, chat(ask, `,"metadata":{"note":"`+strings.Repeat("word-", 60)+card+`"}`)},
		"a long text without spaces":    {site.ChatPath, chat(ask, `,"metadata":{"note":"`+strings.Repeat("中文", 60)+"："+card+`"}`)},
		"a name in a schema":            {site.ChatPath, chat(ask, `,"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"properties":{"`+card+`":{}}}}}`)},
		"a name in a response":          {"/v1beta/models/gem:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"` + card + `":true}}}]}]}`},
		"the user":                      {site.ChatPath, chat(ask, `,"user":"`+card+`"`)},
		"a prediction":                  {site.ChatPath, chat(ask, `,"prediction":{"type":"content","content":"`+card+`"}`)},
		"parts of a messages message":   {site.MessagesPath, messages(`[{"type":"text","text":"4111 1111"},{"type":"text","text":" 1111 1111"}]`, "")},
		"parts of a system text":        {site.MessagesPath, messages(`"hello"`, `,"system":[{"type":"text","text":"4111 1111"},{"type":"text","text":" 1111 1111"}]`)},
		"the title of a document":       {site.MessagesPath, messages(`[{"type":"document","title":"`+card+`","source":{"type":"text","media_type":"text/plain","data":"x"}}]`, "")},
		"the result of a messages tool": {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[` + ask + `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"4111 1111"},{"type":"text","text":" 1111 1111"}]}]}]}`},
		"the input of a messages tool":  {site.MessagesPath, `{"model":"m","max_tokens":9,"messages":[` + ask + `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{"a":{"b":[4111111111111111]}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}]}`},
		"the output of a function":      {site.ResponsesPath, `{"model":"m","input":[{"type":"function_call","call_id":"c","name":"pay","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"` + card + `"}]}`},
		"a name in metadata":            {site.ChatPath, chat(ask, `,"metadata":{"`+card+`":"a"}`)},
		"a name in a bias":              {site.ChatPath, chat(ask, `,"logit_bias":{"4111111111111111":1}`)},
		"a name of an unknown member":   {site.ResponsesPath, `{"model":"m","input":"x","zz":{"` + card + `":1}}`},
		"a name in an unknown item":     {site.MessagesPath, messages(`"x"`, `,"zz":[[{"4111\u00201111\u00201111\u00201111":null}]]`)},
		"a name in labels":              {"/v1beta/models/gem:generateContent", `{"contents":[{"parts":[{"text":"x"}]}],"labels":{"` + card + `":"a"}}`},
		"a number with an exponent":     {site.ChatPath, chat(ask, `,"zz":4111111111111111e0`)},
		"a number with a fraction":      {site.MessagesPath, messages(`"x"`, `,"zz":[4.111111111111111E+15]`)},
		"a short number":                {site.CompletionsPath, `{"model":"m","prompt":"x","zz":42e14}`},
		"an exponent in a call":         {site.ChatPath, chat(ask+`,{"role":"assistant","tool_calls":[`+call+quoted(`{"card":411111111111111.1e1}`)+`}}]},{"role":"tool","tool_call_id":"call_1","content":"x"}`, "")},
		"a suffix":                      {site.CompletionsPath, `{"model":"m","prompt":"hello","suffix":"` + card + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := s.Ask(request.path, request.body)
			assert.Equal(t, http.StatusBadRequest, answer.Status, answer.Body)
			assert.NotContains(t, answer.Body, "1111")
		})
	}
	assert.Zero(t, p.Count(), "no provider got one of them")
	clean := s.Ask(site.ChatPath, chat(ask, ""))
	assert.Equal(t, http.StatusOK, clean.Status, clean.Body)
}

// withCall returns, for each path, a request with a call of a tool whose arguments have a content, and which
// has the same content as JSON in the result of the tool and the text of the user.
func withCall(content string) map[string]string {
	arguments := `{"content":` + quoted(content) + `}`
	as := quoted(arguments)
	return map[string]string{
		site.MessagesPath:                     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":` + arguments + `}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}]}`,
		site.ChatPath:                         `{"model":"m","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":` + as + `}}]},{"role":"tool","tool_call_id":"call_1","content":"ok"}]}`,
		site.ResponsesPath:                    `{"model":"m","input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"call_1","name":"f","arguments":` + as + `},{"type":"function_call_output","call_id":"call_1","output":"ok"}]}`,
		"/v1beta/models/gem:generateContent":  `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":` + arguments + `}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"ok"}}}]}]}`,
		site.MessagesPath + "?result":         `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":` + as + `}]}]}`,
		site.ChatPath + "?text":               site.BodyFor(site.ChatPath, "m", arguments, false),
		site.ResponsesPath + "?nested":        site.BodyFor(site.ResponsesPath, "m", `{"a":`+as+`}`, false),
		"/v1beta/models/gem:generateContent?": `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":` + arguments + `}}]}]}`,
	}
}

// A key, a card or an IBAN behind a line break in the arguments of a call passed, because the break is a
// backslash and the letter n there, so that no word began behind it. An address was masked with the n,
// so that the arguments were no JSON and the request was blocked.
func TestALineBreakInArgumentsHidesNothing(t *testing.T) {
	const key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
	s, p := guarded(t, pii)
	for _, secret := range []string{key, card, "DE89370400440532013000", strings.ReplaceAll(card, " ", "\n")} {
		for path, body := range withCall("first\n" + secret + "\tnext") {
			answer := s.Ask(path, body)
			assert.Equal(t, http.StatusBadRequest, answer.Status, "%s %s", path, body)
			assert.Contains(t, answer.Body, "guard 'pii'", path)
		}
	}
	assert.Zero(t, p.Count())
	for path, body := range withCall("x\n" + address + "\ty") {
		assert.Equal(t, http.StatusOK, s.Ask(path, body).Status, path)
		assert.Contains(t, strings.ReplaceAll(lastBody(t, p), `\`, ""), "xn[email]ty", path)
	}
}

// Neither did a mask of the log of contents find such a key.
func TestALineBreakInArgumentsHidesNothingFromTheMaskOfALog(t *testing.T) {
	const key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
	logged, _ := guarded(t, "guard redacted regex {\nblock key\nmodels nothing\n}", "log_content {\nredact redacted\n}")
	for path, body := range withCall("first\n" + key) {
		answer := logged.Ask(path, body)
		require.Equal(t, http.StatusOK, answer.Status, path)
		entry := logged.EntryWhere(func(e map[string]any) bool { return e["request_id"] == answer.ID() && e["msg"] == "request content" })
		assert.Contains(t, fmt.Sprint(entry["texts"]), `n[key]`, path)
	}
	logged.AssertNoEntry(key)
}

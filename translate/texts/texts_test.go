package texts_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// find returns the texts of a request, which must be valid.
func find(t testing.TB, format translate.Format, body string) texts.Request {
	t.Helper()
	d := formats.Of(format)
	view, fault := d.Requests.Inspect([]byte(body), translate.Generate)
	require.Nil(t, fault)
	return texts.OfRequest([]byte(body), &view, &d.Requests)
}

// conversation are the texts of a conversation, in one line each.
func conversation(r texts.Request) (lines []string) {
	for i := range r.Texts {
		if t := &r.Texts[i]; t.Kind != texts.Other {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %s", t.Kind, t.Name, t.Text)))
		}
	}
	return lines
}

// The same conversation has the same texts in each format.
func TestTheTextsOfAConversation(t *testing.T) {
	want := []string{
		`1  be brief`, `2  hello`, `3  calling`, `5 f {"a":"é"}`, `4  found`, `6 f`, `6 f it finds`, `6 f {"type":"object"}`,
	}
	for format, body := range map[translate.Format]string{
		translate.Messages:  `{"model":"m","max_tokens":9,"system":"be brief","messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"text","text":"calling"},{"type":"tool_use","id":"t","name":"f","input":{"a":"\u00e9"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"found"}]}],"tools":[{"name":"f","description":"it finds","input_schema":{"type":"object"}}]}`,
		translate.Chat:      `{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hello"},{"role":"assistant","content":"calling","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\u00e9\"}"}}]},{"role":"tool","tool_call_id":"t","content":"found"}],"tools":[{"type":"function","function":{"name":"f","description":"it finds","parameters":{"type":"object"}}}]}`,
		translate.Responses: `{"model":"m","instructions":"be brief","input":[{"role":"user","content":"hello"},{"role":"assistant","content":"calling"},{"type":"function_call","call_id":"t","name":"f","arguments":"{\"a\":\"\\u00e9\"}"},{"type":"function_call_output","call_id":"t","output":"found"}],"tools":[{"type":"function","name":"f","description":"it finds","parameters":{"type":"object"}}]}`,
		translate.Gemini:    `{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"text":"calling"},{"functionCall":{"name":"f","args":{"a":"\u00e9"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"found"}}}]}],"tools":[{"functionDeclarations":[{"name":"f","description":"it finds","parametersJsonSchema":{"type":"object"}}]}]}`,
	} {
		got := conversation(find(t, format, body))
		assert.ElementsMatch(t, want, got, format)
	}
	assert.Equal(t, []string{"2  say"}, conversation(find(t, translate.Completions, `{"model":"m","prompt":"say"}`)))
}

func TestVendorToolsHaveTheirNames(t *testing.T) {
	for format, body := range map[translate.Format]string{
		translate.Messages:  `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`,
		translate.Responses: `{"model":"m","input":"x","tools":[{"type":"web_search"}]}`,
		translate.Gemini:    `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"googleSearch":{}}]}`,
	} {
		var names []string
		for _, text := range find(t, format, body).Texts {
			if text.Kind == texts.Tool {
				names = append(names, text.Name)
			}
		}
		require.NotEmpty(t, names, format)
		for _, name := range names {
			assert.Contains(t, strings.ToLower(name), "search", format)
		}
	}
}

// Names of members in the response of a function, in the schema of an answer and in declarations that
// no reader recognises were not searched, and the response was no result of a tool.
func TestNamesInDataAreInTheTexts(t *testing.T) {
	const history = `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":`
	for body, want := range map[string]struct {
		format translate.Format
		kind   texts.Kind
		text   string
	}{
		history + `{"4111":{"a":"b"},"c":2}}}]}]}`: {translate.Gemini, texts.Result, `{"4111":{"a":"b"},"c":2}`},
		history + `{"4111":true}}}]}]}`:            {translate.Gemini, texts.Result, `{"4111":true}`},
		history + `{"output":"4111"}}}]}]}`:        {translate.Gemini, texts.Result, `4111`},
		`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","properties":{"4111":{}}}}}}`: {
			translate.Chat, texts.Other, `{"4111":{}}`},
		`{"model":"m","messages":[{"role":"user","content":"x"}],"functions":[{"name":"f","parameters":{"type":"object","properties":{"4\u0031 11":{"type":"string"}}}}]}`: {
			translate.Chat, texts.Other, `{"41 11":{"type":"string"}}`},
	} {
		list := find(t, want.format, body).Texts
		assert.True(t, slices.ContainsFunc(list, func(a texts.Text) bool { return a.Kind == want.kind && a.Text == want.text }), "%s: %v", body, list)
	}
}

func TestFilesAreNoTexts(t *testing.T) {
	data := strings.Repeat("QUJD", 10)
	r := find(t, translate.Messages, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+data+`"}}]}]}`)
	for _, text := range r.Texts {
		assert.NotEqual(t, data, text.Text)
	}
}

// A string of 256 bytes or more without a space or an escape once counted as data where the reader
// does not recognise it, so that a card number in a long text of Chinese, in a query, or behind many
// letters was not found.
func TestOnlyBase64IsData(t *testing.T) {
	const base64 = "aB3dE5gH+/jK7mN9pQ2s" // 20 bytes
	random, safe := strings.Repeat(base64, 20), strings.Repeat("aB3dE5gH_-jK7mN9pQ2s", 20)
	for long, isText := range map[string]bool{
		random: false, random + "==": false, safe: false, "data:image/png;base64," + random: false, strings.Repeat("A", 300): false,
		strings.Repeat("中文没有空格", 50):                            true,
		strings.Repeat("a=1&", 100) + "card=4111111111111111":   true,
		strings.Repeat("a", 300) + "-4111111111111111":          true,
		strings.Repeat("a", 300) + "-sk-aB3dE5gH7jK7mN9pQ2saB3": true,
		random + "/4111111111111111":                            true,
		safe + "-4111-1111-1111-1111":                           true,
		random + "-sk-aB3dE5gH7jK7mN9pQ2s":                      true, // two alphabets
		"data:text/plain," + random:                             true,
		random + "=" + random:                                   true,
	} {
		r := find(t, translate.Chat, `{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":{"note":"`+long+`"}}`)
		found := slices.ContainsFunc(r.Texts, func(a texts.Text) bool { return a.Text == long })
		assert.Equal(t, isText, found, long)
	}
}

// FuzzPut replaces each text of a request by another one. The result must be valid JSON, and
// differ in that text alone.
func FuzzPut(f *testing.F) {
	for _, with := range []string{"", `"`, "\\", "\x00", "é😀", "\xff", "a\u2028b", `{"a":1}`} {
		f.Add(`say "it" \ud83d\ude00`, with)
	}
	f.Fuzz(func(t *testing.T, content, replacement string) {
		quoted, _ := json.Marshal(content) // a string always encodes
		for format, body := range map[translate.Format]string{
			translate.Chat:     `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":` + string(quoted) + `} , {"type":"text","text":"\u0041"}]},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":` + string(quoted) + `}}]},{"role":"tool","tool_call_id":"t","content":"x"}] }`,
			translate.Messages: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":` + string(quoted) + `},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":` + string(quoted) + `}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}] }`,
		} {
			d := formats.Of(format)
			view, fault := d.Requests.Inspect([]byte(body), translate.Generate)
			if fault != nil {
				return
			}
			before := texts.OfRequest([]byte(body), &view, &d.Requests).Texts
			for i := range before {
				e, ok := before[i].Put(replacement)
				if !ok {
					continue
				}
				edited := edit.Apply(nil, []byte(body), []edit.Edit{e})
				require.True(t, json.Valid(edited), "%s", edited)
				assert.Equal(t, body[:e.Start], string(edited[:e.Start]))
				assert.True(t, strings.HasSuffix(string(edited), body[e.End:]))
				if before[i].Kind != texts.User || replacement == "" || !utf8.ValidString(replacement) {
					continue
				}
				view, fault = d.Requests.Inspect(edited, translate.Generate)
				require.Nil(t, fault)
				after := texts.OfRequest(edited, &view, &d.Requests).Texts
				assert.True(t, slices.ContainsFunc(after, func(a texts.Text) bool { return a.Text == replacement }), "%q", replacement)
			}
		}
	})
}

package texts_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// marked are requests with members of all kinds, by format and operation.
var marked = []struct {
	format    translate.Format
	operation translate.Operation
	body      string
}{
	{translate.Chat, translate.Generate, `{"model":"m","messages":[{"role":"system","content":"a","name":"n"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x.example/a.png","detail":"low"}},{"type":"file","file":{"filename":"f","file_data":"data:application/pdf;base64,QUJD"}},{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}}]},{"role":"assistant","content":null,"refusal":"r","reasoning_content":"t","tool_calls":[{"id":"i","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"i","content":"r"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"number","maximum":9}}},"strict":true}}],"tool_choice":"auto","response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object","properties":{"p":{"enum":["a",1]}}}}},"metadata":{"k":"v"},"logit_bias":{"12":1},"stop":["s"],"user":"u","seed":1,"temperature":0.5,"prediction":{"type":"content","content":"a"},"web_search_options":{"user_location":{"type":"approximate","approximate":{"city":"c"}}},"zz":{"zk":{"zn":1,"zs":["zv",2]}}}`},
	{translate.Messages, translate.Generate, `{"model":"m","max_tokens":9,"system":[{"type":"text","text":"a"}],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"https://x.example"}},{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t","context":"c","citations":{"enabled":true}},{"type":"search_result","title":"t","source":"s","content":[{"type":"text","text":"a"}]}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"QUJD"},{"type":"text","text":"x"},{"type":"tool_use","id":"i","name":"f","input":{"a":{"b":1}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"r"}]}]}],"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"a":{"type":"object"}}}},{"type":"web_search_20250305","name":"web_search","allowed_domains":["d"]}],"mcp_servers":[{"type":"url","url":"https://x.example","name":"n"}],"metadata":{"user_id":"u"},"stop_sequences":["s"],"zz":{"zk":[1,"zv"]}}`},
	{translate.Responses, translate.Generate, `{"model":"m","instructions":"a","input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://x.example"}]},{"type":"function_call","call_id":"i","name":"f","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"i","output":"r"},{"type":"zz_item","zk":{"zn":1}}],"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{"a":{}}}},{"type":"web_search","user_location":{"type":"approximate","city":"c"}}],"text":{"format":{"type":"json_schema","name":"s","schema":{"type":"object","properties":{"p":{}}}}},"metadata":{"k":"v"},"prompt_cache_key":"p","zz":{"zk":1}}`},
	{translate.Completions, translate.Generate, `{"model":"m","prompt":["a","b"],"suffix":"s","logit_bias":{"1":1},"stop":"s","user":"u","zz":{"zk":["zv",1]}}`},
	{translate.Gemini, translate.Generate, `{"systemInstruction":{"parts":[{"text":"a"}]},"contents":[{"role":"user","parts":[{"text":"a"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}},{"fileData":{"mimeType":"image/png","fileUri":"https://x.example"}}]},{"role":"model","parts":[{"text":"t","thought":true},{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"k":{"z":"r"}}}}]}],"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}}]}],"generationConfig":{"stopSequences":["s"],"responseSchema":{"type":"OBJECT","properties":{"p":{"type":"STRING"}}}},"labels":{"k":"v"},"cachedContent":"","zz":{"zk":{"zn":1}}}`},
	{translate.Chat, translate.Embed, `{"model":"m","input":["a","b"],"user":"u","zz":{"zk":{"zn":1}}}`},
	{translate.Chat, translate.GenerateImages, `{"model":"m","prompt":"a","size":"1024x1024","zz":{"zk":["zv",1]}}`},
	{translate.Chat, translate.Rerank, `{"model":"m","query":"q","documents":["a",{"text":"b"}],"zz":{"zk":1}}`},
	{translate.Chat, translate.Speak, `{"model":"m","input":"a","voice":"v","instructions":"i","zz":{"zk":1}}`},
	{translate.Chat, translate.Moderate, `{"model":"m","input":[{"type":"text","text":"a"}],"zz":{"zk":1}}`},
}

// hidden are the places of the requests above whose strings Unseen lists: media and signatures.
var hidden = []string{"file_data", "data", "signature", "url", "image_url", "fileUri"}

// The names of members and numbers with an exponent passed the guards, which read only the values
// of members. A marker in each place of a request is a text, or a place that Unseen lists.
func TestWhatIsUnseenIsListed(t *testing.T) {
	const name, number, spelled = "Project Falcon 4711 ", "4.111111111111111e15", "4111111111111111"
	for _, sample := range marked {
		d, body, checked := formats.Of(sample.format), []byte(sample.body), 0
		require.True(t, json.Valid(body), sample.body)
		for isName, at := range jsonscan.Leaves(body, jsonscan.Slot{End: len(body)}) {
			raw, want := string(body[at.Start:at.End]), name
			quoted := `"Project \u0046alcon 4711 "`
			if raw[0] != '"' {
				quoted, want = number, spelled
			}
			changed := []byte(string(body[:at.Start]) + quoted + string(body[at.End:]))
			view, fault := d.Requests.Inspect(changed, sample.operation)
			if fault != nil || view.ModelSpan.Start == at.Start {
				continue
			}
			checked++
			request := texts.OfRequest(changed, &view, &d.Requests)
			seen := request.Reference != ""
			for _, text := range request.Texts {
				seen = seen || strings.Contains(text.Text, want) || strings.Contains(text.Name, want)
			}
			if !isName && !seen {
				before := string(body[:at.Start])
				for _, member := range hidden {
					seen = seen || strings.HasSuffix(before, `"`+member+`":`)
				}
			}
			assert.True(t, seen, "%s %v: %s ...%.60s", sample.format, sample.operation, raw, sample.body[at.Start:])
		}
		assert.NotZero(t, checked)
	}
}

func TestThePageListsWhatIsUnseen(t *testing.T) {
	page, err := os.ReadFile("../../caddyfile/docs/guards.md")
	require.NoError(t, err)
	for _, part := range texts.Unseen {
		assert.Contains(t, string(page), "\n- "+part)
	}
}

func TestNumbersAreSpelledOut(t *testing.T) {
	for number, want := range map[string]string{
		"4111111111111111": "4111111111111111", "4111111111111111e0": "4111111111111111", "4.111111111111111E+15": "4111111111111111", "41111111111111110e-1": "4111111111111111",
		"4111111111111111.0": "4111111111111111", "4111111111111111.000e00": "4111111111111111", "0.4111111111111111e16": "4111111111111111", "0.0004111111111111111e19": "4111111111111111",
		"-4111111111111111e0": "-4111111111111111", "42e14": "4200000000000000", "4111111111111111.5": "4111111111111111.5", "1e-20000000": "", "1e400000000": "", "12345": "", "1.5": "",
		"0.1234567890123": "0.1234567890123", "12345678901234567890": "12345678901234567890",
	} {
		var numbers []string
		for _, text := range find(t, translate.Chat, `{"model":"m","messages":[{"role":"user","content":"x"}],"zz":`+number+`}`).Texts {
			if strings.ContainsAny(text.Text, "0123456789") {
				numbers = append(numbers, text.Text)
			}
		}
		if want == "" {
			assert.Empty(t, numbers, number)
			continue
		}
		assert.Equal(t, []string{want}, numbers, number)
		called := find(t, translate.Messages, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"f","input":{"a":[`+number+`],"b":"1.0e3"}}]}]}`).Texts
		assert.True(t, strings.Contains(texts.Unescaped(`{"a":[`+number+`],"b":"1.0e3"}`), `{"a":[`+want+`],"b":"1.0e3"}`), number)
		require.NotEmpty(t, called)
	}
}

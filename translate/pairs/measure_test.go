package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func TestMeasureCountsTheTextsOfARequest(t *testing.T) {
	payload := strings.Repeat("A", 3<<20)
	size := func(bytes, images, documents int64) token.Size {
		return token.Size{Bytes: bytes, Images: images, Documents: documents}
	}
	for _, c := range []struct {
		name   string
		source translate.Format
		body   string
		want   token.Size
	}{
		{"a text, decoded", translate.Messages, `{"messages":[{"role":"user","content":"a\u00e9\n"}]}`, size(4, 0, 0)},
		{"blocks", translate.Messages, `{"messages":[{"content":[{"text":"12345","type":"text"}],"role":"user"}]}`, size(5, 0, 0)},
		{"system", translate.Messages, `{"system":"123","messages":[]}`, size(3, 0, 0)},
		{"system blocks", translate.Messages, `{"messages":[],"system":[{"type":"text","text":"123"},{"type":"text","text":"4"}]}`, size(4, 0, 0)},
		{"tools", translate.Messages, `{"tools":[{"name":"12","description":"345","input_schema":{"a":1}}]}`, size(12, 0, 0)},
		{"calls and results", translate.Messages, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"xxxx","name":"12","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"xxxx","content":"123"},{"type":"tool_result","tool_use_id":"xxxx","content":[{"type":"text","text":"4"},{"type":"search_result","title":"T","source":"S","content":[{"type":"text","text":"56"}]}]}]}]}`, size(17, 0, 0)},
		{"an image", translate.Messages, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + payload + `"}}]}]}`, size(0, 1, 0)},
		{"a file", translate.Messages, `{"messages":[{"role":"user","content":[{"type":"document","title":"12","source":{"type":"base64","media_type":"application/pdf","data":"` + payload + `"}}]}]}`, size(2, 0, 1)},
		{"a document of text", translate.Messages, `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"123"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"4"}]}}]}]}`, size(4, 0, 0)},
		{"nothing", translate.Messages, `{}`, size(0, 0, 0)},
		{"no JSON", translate.Messages, `{"messages":[{"role":"user","content":[{"type"`, size(0, 0, 0)},
		{
			"a chat request", translate.Chat,
			`{"messages":[{"role":"system","content":"1"},{"role":"user","content":[{"type":"text","text":"2"},{"type":"image_url","image_url":{"url":"https://x"}},{"type":"file","file":{"filename":"34","file_data":"data:application/pdf;base64,` + payload + `"}}]},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"xxxx","type":"function","function":{"name":"56","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"xxxx","content":"7"}],` +
				`"tools":[{"type":"function","function":{"name":"56","description":"890","parameters":{"a":1}}}]}`,
			size(26, 1, 1),
		},
		{"a prompt", translate.Completions, `{"prompt":"12\u00e9"}`, size(4, 0, 0)},
		{"several prompts", translate.Completions, `{"prompt":["12","","345"]}`, size(5, 0, 0)},
		{"tokens", translate.Completions, `{"prompt":[1,2,3]}`, size(0, 0, 0)},
	} {
		assert.Equal(t, c.want, formats.Of(c.source).Requests.Measure([]byte(c.body)), c.name)
	}
}

func TestDeepNestingIsMeasuredOnlySoFar(t *testing.T) {
	body := `{"messages":[{"role":"user","content":` + strings.Repeat(`[{"type":"tool_result","content":`, 60) + `"1234"` + strings.Repeat(`}]`, 60) + `}]}`
	assert.EqualValues(t, 1, formats.Of(translate.Messages).Requests.Measure([]byte(body)).Tokens(4))
}

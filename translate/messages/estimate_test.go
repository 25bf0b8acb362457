package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

func TestMeasureCountsWhatARequestSays(t *testing.T) {
	payload := strings.Repeat("A", 3<<20)
	size := func(bytes, images, documents int64) messages.Size {
		return messages.Size{Bytes: bytes, Images: images, Documents: documents}
	}
	for _, c := range []struct {
		name, body string
		want       messages.Size
	}{
		{"a text, decoded", `{"messages":[{"role":"user","content":"a\u00e9\n"}]}`, size(4, 0, 0)},
		{"blocks", `{"messages":[{"content":[{"text":"12345","type":"text"}],"role":"user"}]}`, size(5, 0, 0)},
		{"system", `{"system":"123","messages":[]}`, size(3, 0, 0)},
		{"system blocks", `{"messages":[],"system":[{"type":"text","text":"123"},{"type":"text","text":"4"}]}`, size(4, 0, 0)},
		{"tools", `{"tools":[{"name":"12","description":"345","input_schema":{"a":1}}]}`, size(12, 0, 0)},
		{"calls and results", `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"xxxx","name":"12","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"xxxx","content":"123"},{"type":"tool_result","tool_use_id":"xxxx","content":[{"type":"text","text":"4"},{"type":"search_result","title":"T","source":"S","content":[{"type":"text","text":"56"}]}]}]}]}`, size(17, 0, 0)},
		{"an image", `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + payload + `"}}]}]}`, size(0, 1, 0)},
		{"a file", `{"messages":[{"role":"user","content":[{"type":"document","title":"12","source":{"type":"base64","media_type":"application/pdf","data":"` + payload + `"}}]}]}`, size(2, 0, 1)},
		{"a document of text", `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"123"}},{"type":"document","source":{"type":"content","content":[{"type":"text","text":"4"}]}}]}]}`, size(4, 0, 0)},
		{"nothing", `{}`, size(0, 0, 0)},
		{"no JSON", `{"messages":[{"role":"user","content":[{"type"`, size(0, 0, 0)},
	} {
		assert.Equal(t, c.want, messages.Measure([]byte(c.body)), c.name)
	}
}

func TestTokensAreEstimatedFromTheSize(t *testing.T) {
	const ratio = messages.DefaultBytesPerToken
	assert.EqualValues(t, 1, messages.Size{}.Tokens(ratio), "no request has no tokens")
	assert.EqualValues(t, 1, messages.Size{Bytes: 4}.Tokens(ratio))
	assert.EqualValues(t, 2, messages.Size{Bytes: 5}.Tokens(ratio))
	assert.EqualValues(t, 4501, messages.Size{Bytes: 4, Images: 1, Documents: 1}.Tokens(ratio))
	assert.EqualValues(t, 2, messages.Size{Bytes: 5}.Tokens(3.5))
}

func TestDeepNestingIsMeasuredOnlySoFar(t *testing.T) {
	body := `{"messages":[{"role":"user","content":` + strings.Repeat(`[{"type":"tool_result","content":`, 60) + `"1234"` + strings.Repeat(`}]`, 60) + `}]}`
	assert.EqualValues(t, 1, messages.Measure([]byte(body)).Tokens(4))
}

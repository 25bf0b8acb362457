package meter

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// Any text without spaces once counted as a file, at any place of a request: 20 million
// characters of a prompt counted as 1538 tokens.
func TestPromptsAreEstimatedByTheirLengthAndFilesByTheirCost(t *testing.T) {
	english := strings.Repeat("the quick brown fox jumps over the lazy dog. ", 1000)
	chinese := strings.Repeat("\u654f\u6377\u7684\u68d5\u8272\u72d0\u72f8", 2000)
	joined := strings.ReplaceAll(english, " ", "_")
	file := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00\x10\x83\x10\x51\x87\x20\x92\x8b\x30\xd3\x8f", 50_000)))
	block := func(block string) string {
		return `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[` + block + `]}]}`
	}
	based := func(kind, media, data string) string {
		return `{"type":"` + kind + `","source":{"data":"` + data + `","type":"base64","media_type":"` + media + `"}}`
	}
	for name, c := range map[string]struct {
		format   translate.Format
		body     string
		low, top int64
	}{
		"a long text":                     {translate.Completions, `{"model":"m","prompt":"` + english + `"}`, 11_000, 12_000},
		"a language without spaces":       {translate.Completions, `{"model":"m","prompt":"` + chinese + `"}`, 10_000, 12_000},
		"tokens":                          {translate.Completions, `{"model":"m","prompt":[` + strings.Repeat("12345,", 10_000) + `1]}`, 14_000, 16_000},
		"a text without spaces":           {translate.Completions, `{"model":"m","prompt":"` + joined + `"}`, 11_000, 12_000},
		"a text of base64":                {translate.Chat, block(`{"type":"text","text":"` + file + `"}`), 200_000, 201_000},
		"a tool that was given base64":    {translate.Messages, block(`{"type":"tool_use","id":"a","name":"f","input":{"source":{"type":"base64","media_type":"image/png","data":"` + file + `"}}}`), 200_000, 201_000},
		"an image":                        {translate.Messages, block(based("image", "image/png", file)), 1500, 1600},
		"two images":                      {translate.Messages, block(based("image", "image/png", file) + "," + based("image", "image/png", file)), 3000, 3100},
		"an image that a tool returned":   {translate.Messages, block(`{"type":"tool_result","tool_use_id":"a","content":[` + based("image", "image/png", file) + `]}`), 1500, 1600},
		"a PDF":                           {translate.Messages, block(based("document", `application\/pdf`, file)), 20_000, 20_100},
		"a document of text":              {translate.Messages, block(`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"` + file + `"}}`), 200_000, 201_000},
		"a text that pretends":            {translate.Messages, block(based("document", "text/plain", file)), 200_000, 201_000},
		"an image of all that a body has": {translate.Messages, block(based("image", "image/png", strings.Repeat(file, 40))), 7_800, 8_000},
		"an image by its URL":             {translate.Chat, block(`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + file + `"}},{"type":"text","text":"` + english + `"}`), 12_500, 13_600},
		"one with its slashes escaped":    {translate.Chat, block(`{"type":"image_url","image_url":{"url":"data:image\/png;base64,` + strings.ReplaceAll(file, "/", `\/`) + `"}}`), 1500, 1600},
		"an image and its long address":   {translate.Chat, block(`{"type":"image_url","image_url":{"url":"https://x/` + joined + `"}}`), 12_500, 13_500},
		"a PDF as a file part":            {translate.Chat, block(`{"type":"file","file":{"file_data":"data:application/pdf;base64,` + file + `"}}`), 20_000, 20_100},
		"a text as a file part":           {translate.Chat, block(`{"type":"file","file":{"file_data":"data:text/plain;base64,` + file + `"}}`), 200_000, 201_000},
		"a recording":                     {translate.Chat, block(`{"type":"input_audio","input_audio":{"format":"wav","data":"` + file + `"}}`), 4_700, 4_800}, // of 32 kbit/s, since it has no header
	} {
		view, fault := formats.Of(c.format).Requests.Inspect([]byte(c.body), translate.Generate)
		require.Nil(t, fault, name)
		got := PromptTokens(len(c.body), view.Costs.Files)
		assert.GreaterOrEqual(t, got, c.low, name)
		assert.LessOrEqual(t, got, c.top, name)
	}
}

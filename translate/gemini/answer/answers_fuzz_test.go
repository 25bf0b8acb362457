package answer_test

import (
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

// textOf returns the texts of a candidate without its thoughts, "" for one that never began.
func textOf(o translatetest.Object, choice int) string {
	var b strings.Builder
	list := o["candidates"].([]any)
	if choice >= len(list) {
		return ""
	}
	for _, part := range list[choice].(translatetest.Object)["content"].(translatetest.Object)["parts"].([]any) {
		if part := part.(translatetest.Object); part["thought"] == nil {
			text, _ := part["text"].(string)
			b.WriteString(text)
		}
	}
	return b.String()
}

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("r1", "new"))
		},
		Read: translatetest.Generated,
		Text: textOf, Choices: 2, Calls: true,
	}.Fuzz(f, 3, 0, 0, 1, 4, 1, 0, 3, 4, 2, 5, 9, 7, 3)
}

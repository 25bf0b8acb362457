package answer_test

import (
	"strings"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Messages, answer.NewParser) }

// textOf returns the texts of a message.
func textOf(answer translatetest.Object, _ int) string {
	var b strings.Builder
	for _, block := range answer["content"].([]any) {
		text, _ := block.(translatetest.Object)["text"].(string)
		b.WriteString(text)
	}
	return b.String()
}

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("id_1", "new"))
		},
		Read: func(stream []byte) (translatetest.Object, error) {
			answer, err := translatetest.Message(stream)
			return translatetest.Settled(answer), err
		},
		Text: textOf, Choices: 1, Calls: true,
	}.Fuzz(f, 3, 0, 0, 1, 4, 1, 0, 3, 4, 2, 5, 9, 7, 3)
}

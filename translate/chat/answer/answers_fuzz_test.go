package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Chat, answer.NewParser) }

// contentOf returns the content of a choice.
func contentOf(answer translatetest.Object, choice int) string {
	message := answer["choices"].([]any)[choice].(translatetest.Object)["message"].(translatetest.Object)
	content, _ := message["content"].(string)
	return content
}

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("id_1", "new"))
		},
		Read: func(stream []byte) (translatetest.Object, error) { return translatetest.Chat(stream, true) },
		Text: contentOf, Choices: 3, Calls: true,
	}.Fuzz(f, 0, 0, 0, 1, 4, 1, 4, 2, 7, 3)
}

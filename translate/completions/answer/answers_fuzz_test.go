package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Completions, answer.NewParser) }

// textOf returns the text of a choice.
func textOf(answer translatetest.Object, choice int) string {
	return answer["choices"].([]any)[choice].(translatetest.Object)["text"].(string)
}

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("id_1", "new"))
		},
		Read: func(stream []byte) (translatetest.Object, error) { return translatetest.Completion(stream, true) },
		Text: textOf, Choices: 3,
	}.Fuzz(f, 0, 0, 16, 1, 32, 2, 5, 9, 7, 1)
}

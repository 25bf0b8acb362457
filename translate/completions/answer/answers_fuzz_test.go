package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Completions, answer.NewParser) }

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("id_1", "new"))
		},
		Client: client.Completions, Choices: 3,
	}.Fuzz(f, 0, 0, 16, 1, 32, 2, 5, 9, 7, 1)
}

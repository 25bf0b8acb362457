package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("r1", "new"))
		},
		Client: client.Gemini, Choices: 2, Calls: true,
	}.Fuzz(f, 3, 0, 0, 1, 4, 1, 0, 3, 4, 2, 5, 9, 7, 3)
}

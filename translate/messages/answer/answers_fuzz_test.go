package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Messages, answer.NewParser) }

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("id_1", "new"))
		},
		Client: client.Messages, Choices: 1, Calls: true,
	}.Fuzz(f, 3, 0, 0, 1, 4, 1, 0, 3, 4, 2, 5, 9, 7, 3)
}

package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Chat, answer.NewParser) }

func FuzzEmitter(f *testing.F) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			return answer.NewEmitter(m, translatetest.IDs("id_1", "new"))
		},
		Client: client.Chat, Choices: 3, Calls: true,
	}.Fuzz(f, 0, 0, 0, 1, 4, 1, 4, 2, 7, 3)
}

package answer_test

import (
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

func FuzzParser(f *testing.F) { translatetest.FuzzParser(f, translate.Responses, answer.NewParser) }

func FuzzEmitter(f *testing.F)        { fuzzEmitter(f, nil) }
func FuzzSealingEmitter(f *testing.F) { fuzzEmitter(f, sealer(f)) }

func fuzzEmitter(f *testing.F, seals *seal.Sealer) {
	translatetest.RoundTrip{
		Emitter: func(m *translate.AnswerContext) translatetest.Emitter {
			m.Seals = seals
			return answer.NewEmitter(m, newIDs())
		},
		Client: client.Responses, Choices: 1, Calls: true,
	}.Fuzz(f, 3, 0, 0, 1, 4, 1, 0, 3, 4, 2, 5, 9, 7, 3)
}

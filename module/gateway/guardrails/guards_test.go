package guardrails

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

func TestX105WithoutAGuardNothingIsExtracted(t *testing.T) {
	ex := &exchange.Exchange{Key: &aigateway.Key{ID: "team"}, Request: exchange.Request{View: translate.View{Model: "m"}}}
	logger := zap.NewNop()
	others := Guards{list: []*guard{{Config: Config{Name: "g", Models: []aigateway.Pattern{"other"}}}}}
	for _, guards := range []Guards{{}, others} {
		assert.Zero(t, testing.AllocsPerRun(100, func() {
			if checks := guards.For(ex, logger); checks != nil {
				t.Fatal("no guard covers the exchange")
			}
		}))
	}
}

func TestPassedGroupsAreBounded(t *testing.T) {
	p := new(passed)
	number := func(i int) digest { return digest{byte(i), byte(i >> 8), byte(i >> 16)} }
	for i := range 3 * mostPassed {
		p.add([]digest{number(i)})
	}
	assert.LessOrEqual(t, len(p.newer)+len(p.older), 2*mostPassed)
	assert.True(t, p.has(number(3*mostPassed-1)))
	assert.False(t, p.has(number(0)))
}

// Once, a guard of a model did not check requests that wrote the name in other letters, which services
// take for the same model.
func TestAGuardCoversAllSpellingsOfItsModels(t *testing.T) {
	c := Config{Models: []aigateway.Pattern{"gpt-5*"}, Keys: []aigateway.Pattern{"ada"}}
	for _, model := range []string{"gpt-5", "GPT-5.1", " gpt-5", "models/gpt-5"} {
		assert.True(t, c.covers("ada", model), "%q", model)
	}
	assert.False(t, c.covers("ada", "gpt-4"))
	assert.False(t, c.covers("ADA", "gpt-5"), "another key")
}

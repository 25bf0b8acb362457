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

package gateway

import (
	"math"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func TestAnswersAreExpectedToBeAsLongAsTheyMay(t *testing.T) {
	chat, messages := &provider{formats: []*format.Descriptor{formats.Of(translate.Chat)}}, &provider{formats: []*format.Descriptor{formats.Of(translate.Messages)}}
	standard := &model{targets: []target{{provider: chat, traits: new(trait.Traits)}}}
	own := &model{targets: []target{{provider: chat, traits: &trait.Traits{DefaultMaxTokens: 10}}, {traits: new(trait.Traits)}}}
	calls := &model{targets: []target{{provider: messages, traits: new(trait.Traits)}}}
	for _, c := range []struct {
		view translate.View
		m    *model
		want int64
	}{
		{translate.View{MaxTokens: 1000}, standard, 1001},
		{translate.View{}, standard, 4097},
		{translate.View{}, own, 11},
		{translate.View{MaxTokens: 100, Answers: 3}, own, 301},
		{translate.View{MaxTokens: 100, Answers: 3, Prompts: 4}, own, 1201},
		{translate.View{MaxTokens: 100, Answers: 3}, calls, 303}, // each is a call with the whole prompt
		{translate.View{MaxTokens: math.MaxInt64, Answers: math.MaxInt64, Prompts: 9}, own, math.MaxInt64},
		{translate.View{MaxTokens: math.MaxInt64 - 1}, own, math.MaxInt64},
	} {
		assert.Equal(t, c.want, expectedTokens(&exchange.Exchange{Format: formats.Of(translate.Chat), View: c.view}, c.m).Reserved, "%+v", c.view)
	}
	assert.Zero(t, expectedTokens(&exchange.Exchange{Operation: translate.CountTokens, View: translate.View{MaxTokens: 5}}, own).Reserved)
}

// BenchmarkAdmitWithoutALimit shows that keys without a limit pay nothing.
func BenchmarkAdmitWithoutALimit(b *testing.B) {
	s := sink.New(httptest.NewRecorder(), &exchange.Exchange{Key: new(aigateway.Key)})
	h, r := &Handler{users: new(userbase)}, httptest.NewRequest("POST", "/", nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = h.admit(nil, s, r)
	}
}

func TestKeysWithoutALimitPayNothing(t *testing.T) {
	s := sink.New(httptest.NewRecorder(), &exchange.Exchange{Key: new(aigateway.Key)})
	h, r := &Handler{users: new(userbase)}, httptest.NewRequest("POST", "/", nil)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if h.admit(nil, s, r) != nil {
			t.Fail()
		}
	}))
}

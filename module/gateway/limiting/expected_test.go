package limiting

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

func TestAnswersAreExpectedToBeAsLongAsTheyMay(t *testing.T) {
	chat, messages := &catalog.Provider{Formats: []*format.Descriptor{formats.Of(translate.Chat)}}, &catalog.Provider{Formats: []*format.Descriptor{formats.Of(translate.Messages)}}
	standard := &catalog.Model{Targets: []catalog.Target{{Provider: chat, Traits: new(trait.Traits)}}}
	own := &catalog.Model{Targets: []catalog.Target{{Provider: chat, Traits: &trait.Traits{DefaultMaxTokens: 10}}, {Traits: new(trait.Traits)}}}
	calls := &catalog.Model{Targets: []catalog.Target{{Provider: messages, Traits: new(trait.Traits)}}}
	for _, c := range []struct {
		view translate.View
		m    *catalog.Model
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
		e, refused := new(Chain).Expect(&exchange.Exchange{Format: formats.Of(translate.Chat), View: c.view}, c.m, nil)
		assert.Nil(t, refused)
		assert.Equal(t, c.want, e.Reserved, "%+v", c.view)
	}
	e, refused := new(Chain).Expect(&exchange.Exchange{Operation: translate.CountTokens, View: translate.View{MaxTokens: 5}}, own, nil)
	assert.Nil(t, refused)
	assert.Zero(t, e)
}

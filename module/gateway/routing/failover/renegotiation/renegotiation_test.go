package renegotiation

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func TestAlternativesEndWithTheirPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, first, second := new(table), formats.All()[0], formats.All()[1]
		brief, lasting := refusal{model: "a", format: first}, refusal{model: "b", format: first}
		assert.Nil(t, d.find(brief))
		assert.True(t, d.learn(brief, Alternative{Format: second, Period: time.Minute}))
		assert.False(t, d.learn(brief, Alternative{Format: second, Period: time.Minute}), "it is known")
		assert.True(t, d.learn(lasting, Alternative{Format: second}))
		assert.Same(t, second, d.find(brief))
		time.Sleep(time.Minute + 1)
		assert.Nil(t, d.find(brief))
		assert.Same(t, second, d.find(lasting))
		assert.True(t, d.learn(brief, Alternative{Format: second}), "it is learned again")
	})
}

// Two alternatives that lead to each other would cost every request two calls.
func TestAnAlternativeReplacesTheOpposite(t *testing.T) {
	d, first, second := new(table), formats.All()[0], formats.All()[1]
	d.learn(refusal{model: "m", format: first}, Alternative{Format: second})
	d.learn(refusal{model: "m", format: second}, Alternative{Format: first})
	assert.Nil(t, d.find(refusal{model: "m", format: first}))
	assert.Same(t, first, d.find(refusal{model: "m", format: second}))
}

func TestAlternativesBelongToOneService(t *testing.T) {
	d, first, second := new(table), formats.All()[0], formats.All()[1]
	d.learn(refusal{model: "m", format: first}, Alternative{Format: second})
	assert.Nil(t, d.find(refusal{provider: modellist.Identity{BaseURL: "http://other"}, model: "m", format: first}))
}

// Names of models come from clients.
func TestAlternativesAreBounded(t *testing.T) {
	d := new(table)
	for i := range 2 * maxLearned {
		r := refusal{model: strconv.Itoa(i), format: formats.All()[0]}
		d.learn(r, Alternative{Format: formats.All()[1]})
		assert.NotNil(t, d.find(r), "the last one is known")
	}
	assert.Len(t, d.alternatives, maxLearned)
}

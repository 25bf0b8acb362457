package token_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// largest is the largest count: doubles hold it and all below it exactly.
const largest = 1 << 53

// Each count was bounded, but their sums were not: a total_tokens of 2^54 reached
// clients that read numbers as doubles, and the usage of many calls could overflow.
func TestSumsOfUsageAreBounded(t *testing.T) {
	limit := token.Usage{Counts: token.Counts{Fresh: largest, CacheRead: largest, CacheWrite: largest, Answer: largest, Reasoning: largest}, Known: true}
	assert.EqualValues(t, largest, limit.Input())
	assert.EqualValues(t, largest, limit.Total())
	together := limit
	for range 4096 {
		together = together.Plus(limit)
	}
	assert.Equal(t, limit, together)
	written := string(openai.AppendUsage(nil, limit, &translate.AnswerContext{}))
	assert.Contains(t, written, `{"prompt_tokens":9007199254740992,"completion_tokens":9007199254740992,"total_tokens":9007199254740992,`)
}

func TestSumsOfUsageAreExactBelowTheirBound(t *testing.T) {
	u := token.Usage{Counts: token.Counts{Fresh: 3, CacheRead: 900, CacheWrite: 12304, Answer: 500, Reasoning: 50}, Known: true}
	assert.EqualValues(t, 13207, u.Input())
	assert.EqualValues(t, 13757, u.Total())
	assert.Equal(t, token.Usage{Counts: token.Counts{Fresh: 6, CacheRead: 1800, CacheWrite: 24608, Answer: 1000, Reasoning: 100}, Known: true}, u.Plus(u))
	assert.Equal(t, token.Usage{}, u.Plus(token.Usage{}), "unknown")
	assert.EqualValues(t, largest, token.Usage{Counts: token.Counts{Fresh: -1, Answer: math.MaxInt64}}.Total(), "counts that no answer can have")
}

package prices

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A prompt that is written to a cache for an hour once cost more than the reserved amount,
// so that concurrent requests exceeded their budget.
func TestNoCallCostsMoreThanItsBound(t *testing.T) {
	at := time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC) // in the peak time of some providers
	for _, list := range Builtin().index.All {
		for _, p := range list {
			for _, count := range []int64{1, 1000, p.Edge, 2_000_000} {
				units := token.Units{Images: count, Seconds: count, Characters: count}
				bound, _ := p.Bound(at, MaxUse{Prompt: count, Answer: count, Units: units})
				for _, tokens := range []token.Counts{
					{Fresh: count, Answer: count}, {CacheWrite: count, Reasoning: count}, {CacheWriteLong: count, Answer: count}, {CacheRead: count, Answer: count / 2, Reasoning: count / 2},
				} {
					cost, ok := p.Cost(Charge{Admitted: at, Tokens: tokens, Units: &units})
					assert.True(t, ok)
					assert.LessOrEqual(t, cost.Nanos, bound, "%s %+v", p.Name(), tokens)
				}
			}
		}
	}
}

func TestTheBoundIsThatOfAnEdgeThatMayBeReached(t *testing.T) {
	p := Price{Base: Rates{Fresh: 1000, Answer: 1000}, Edge: 1000, Above: Rates{Fresh: 5000, Answer: 5000}}
	for prompt, want := range map[int64]int64{499: 499, 500: 2500} {
		nanos, _ := p.Bound(time.Time{}, MaxUse{Prompt: prompt})
		assert.Equal(t, want, nanos)
		all, _ := p.Bound(time.Time{}, MaxUse{Prompt: 10 * prompt, Longest: prompt})
		assert.Equal(t, 10*want, all, "the prompts of a batch are charged one by one")
	}
}

// The bound was once that of the standard tier without searches: requests for the priority
// tier, and requests that search the web, exceeded their budget.
func TestTheBoundIsThatOfTheTermsAndSearches(t *testing.T) {
	table, err := FromRows("p", []map[string]string{{
		"models": "m", "input": "1", "output": "2", "search": "0.01", "priority": "2", "flex": "0.5", "batch": "0.25", "us": "1.1",
	}})
	require.NoError(t, err)
	p := table.Find("p", "m", time.Now())
	const tokens, search = 1000*1000 + 100*2000, 10_000_000
	for name, tt := range map[string]struct {
		most MaxUse
		want int64
	}{
		"nothing else":    {MaxUse{}, tokens},
		"searches":        {MaxUse{Searches: 3}, tokens + 3*search},
		"a tier for more": {MaxUse{Terms: token.Priority, Searches: 1}, 2 * (tokens + search)},
		"a batch":         {MaxUse{Batch: true, Searches: 1}, (tokens + search) / 4},
		"a tier for less": {MaxUse{Terms: token.Flex}, tokens}, // the standard tier may serve the request
		"two":             {MaxUse{Terms: token.Priority | token.RegionUS}, tokens * 22 / 10},
	} {
		tt.most.Prompt, tt.most.Answer = 1000, 100
		nanos, unknown := p.Bound(time.Now(), tt.most)
		assert.Equal(t, tt.want, nanos, name)
		assert.Zero(t, unknown, name)
	}
}

// Terms without a factor passed a budget at the price of others.
func TestTheBoundHasTheTermsWithoutAFactor(t *testing.T) {
	table, err := FromRows("p", []map[string]string{{"models": "m", "input": "1", "output": "2", "priority": "2"}})
	require.NoError(t, err)
	nanos, unknown := table.Find("p", "m", time.Now()).Bound(time.Now(), MaxUse{Prompt: 10, Terms: token.Priority | token.Flex | token.OtherSpeed})
	assert.EqualValues(t, 2*10*1000, nanos)
	assert.Equal(t, Unknown{Terms: token.Flex | token.OtherSpeed}, unknown)
}

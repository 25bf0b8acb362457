package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The part was cut to the size of the whole, or the whole was taken for 0: of two
// readings, the cheaper one was charged, as if the provider had not contradicted itself.
func TestAPartThatIsLargerThanTheWholeIsBesideIt(t *testing.T) {
	for name, tt := range map[string]struct{ got, want token.Usage }{
		"reasoning":           {token.Usage{Output: 3, Reasoning: 9}.Checked(), token.Usage{Output: 12, Reasoning: 9, Inconsistent: true}},
		"caches of an hour":   {token.Usage{CacheWrite: 3, CacheWriteLong: 9}.Checked(), token.Usage{CacheWrite: 12, CacheWriteLong: 9, Inconsistent: true}},
		"as large":            {token.Usage{Output: 3, Reasoning: 3, CacheWrite: 4, CacheWriteLong: 4}.Checked(), token.Usage{Output: 3, Reasoning: 3, CacheWrite: 4, CacheWriteLong: 4}},
		"cached":              {token.Usage{CacheRead: 9}.OfPrompt(5), token.Usage{Input: 5, CacheRead: 9, Inconsistent: true}},
		"read and written":    {token.Usage{CacheRead: 3, CacheWrite: 3}.OfPrompt(5), token.Usage{Input: 5, CacheRead: 3, CacheWrite: 3, Inconsistent: true}},
		"nothing but a cache": {token.Usage{CacheRead: 5}.OfPrompt(5), token.Usage{CacheRead: 5}},
	} {
		assert.Equal(t, tt.want, tt.got, name)
	}
}

// Providers differ in whether the counts of an answer include the runs beside it.
func TestRunsAreChargedOnce(t *testing.T) {
	count := func(input, output int64) token.Usage { return token.Usage{Known: true, Input: input, Output: output} }
	summary := []token.Run{{Usage: count(50_000, 3000)}}
	cached := token.Usage{Known: true, Input: 4, CacheRead: 6, Output: 5}
	for name, c := range map[string]struct {
		counts, answering token.Usage
		charged           int64
		beside, differs   bool
	}{
		"beside the counts":           {count(10, 5), count(10, 5), 53_015, true, false},
		"beside the counts, cached":   {cached, cached, 53_015, true, false},
		"of an answer without a run":  {count(10, 5), count(0, 0), 53_015, true, false},
		"in the counts":               {count(50_010, 3005), count(10, 5), 53_015, false, false},
		"the counts alone":            {count(50_000, 3000), count(0, 0), 53_000, false, false},
		"more than the runs":          {count(45_000, 5), count(10, 5), 98_005, true, true},
		"less than the runs":          {count(1, 1), count(10, 5), 53_015, true, true},
		"no counts":                   {count(0, 0), count(10, 5), 53_015, true, true},
		"nothing but the other runs":  {count(0, 0), count(0, 0), 53_000, true, false},
		"more than all runs together": {count(60_000, 4000), count(10, 5), 117_000, true, true},
	} {
		got := c.counts.OfRuns(c.answering, summary)
		assert.Equal(t, c.charged, got.Charged(), name)
		assert.Equal(t, c.beside, got.Beside != nil, name)
		assert.Equal(t, c.differs, got.Inconsistent, name)
		assert.Equal(t, got.Beside, got.Then(count(100_000, 9000)).Beside, "a later report without runs")
		assert.Equal(t, got.Beside, got.Then(token.Usage{}).Beside, "an unknown one")
	}
}

// The last report of a stream replaced all before it: one that took tokens back, or had
// zeros for what it did not know, made them free.
func TestALaterReportTakesNothingBack(t *testing.T) {
	first := token.Usage{Known: true, Input: 100, CacheRead: 20, Output: 50, Reasoning: 30, Searches: 2}
	for name, tt := range map[string]struct{ next, want token.Usage }{
		"unknown": {token.Usage{}, first},
		"more": {
			token.Usage{Known: true, Input: 100, CacheRead: 20, Output: 60, Reasoning: 10, Searches: 2},
			token.Usage{Known: true, Input: 100, CacheRead: 20, Output: 60, Reasoning: 10, Searches: 2},
		},
		"a cache that was unknown": {
			token.Usage{Known: true, Input: 10, CacheRead: 110, Output: 50, Searches: 2},
			token.Usage{Known: true, Input: 10, CacheRead: 110, Output: 50, Searches: 2},
		},
		"less": {
			token.Usage{Known: true, Input: 5, Output: 40, Searches: 1, Terms: token.Flex},
			token.Usage{Known: true, Input: 100, CacheRead: 20, Output: 50, Reasoning: 30, Searches: 2, Terms: token.Flex, Inconsistent: true},
		},
	} {
		assert.Equal(t, tt.want, first.Then(tt.next), name)
	}
	less := token.Usage{Known: true, Input: 5, Output: 5}
	assert.False(t, first.Then(less).Then(first).Inconsistent, "the last report has all: those before it were of parts")
	assert.True(t, token.Usage{Known: true, Inconsistent: true}.Plus(token.Usage{Known: true}).Inconsistent)
}

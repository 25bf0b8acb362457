package token_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// The part was cut to the size of the whole, or the whole was taken for 0: of two
// readings, the cheaper one was charged, as if the provider had not contradicted itself.
func TestAPartThatIsLargerThanTheWholeIsBesideIt(t *testing.T) {
	for name, tt := range map[string]struct {
		rows         *token.Rows
		object       string
		want         token.Counts
		inconsistent bool
	}{
		"reasoning":           {whole, `{"out":3,"out_details":{"reasoning":9}}`, token.Counts{Answer: 3, Reasoning: 9}, true},
		"reasoning alone":     {whole, `{"out":3,"out_details":{"reasoning":3}}`, token.Counts{Reasoning: 3}, false},
		"caches of an hour":   {disjoint, `{"written":3,"hour":9}`, token.Counts{CacheWrite: 3, CacheWriteLong: 9}, true},
		"no other caches":     {disjoint, `{"written":4,"hour":4}`, token.Counts{CacheWriteLong: 4}, false},
		"cached":              {whole, `{"in":5,"hits":9}`, token.Counts{Fresh: 5, CacheRead: 9}, true},
		"read and written":    {whole, `{"in":5,"in_details":{"cached":3,"written":3}}`, token.Counts{Fresh: 5, CacheRead: 3, CacheWrite: 3}, true},
		"nothing but a cache": {whole, `{"in":5,"hits":5}`, token.Counts{CacheRead: 5}, false},
	} {
		r := report(t, tt.rows, tt.object)
		assert.Equal(t, token.Usage{Counts: tt.want, Known: true, Inconsistent: tt.inconsistent}, r.Usage(), name)
	}
}

// Providers differ in whether the counts of an answer include the runs beside it.
func TestRunsAreChargedOnce(t *testing.T) {
	count := func(input, output int64) token.Usage {
		return token.Usage{Counts: token.Counts{Fresh: input, Answer: output}, Known: true}
	}
	summary := []token.Run{{Usage: count(50_000, 3000)}}
	cached := token.Usage{Counts: token.Counts{Fresh: 4, CacheRead: 6, Answer: 5}, Known: true}
	for name, c := range map[string]struct {
		counts, answering token.Usage
		charged           int64
		apart, differs    bool
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
		assert.Equal(t, c.apart, got.Beside != nil, name)
		assert.Equal(t, c.differs, got.Inconsistent, name)
		assert.Equal(t, got.Beside, got.Then(count(100_000, 9000)).Beside, "a later report without runs")
		assert.Equal(t, got.Beside, got.Then(token.Usage{}).Beside, "an unknown one")
	}
}

// The last report of a stream replaced all before it: one that took tokens back, or had
// zeros for what it did not know, made them free.
func TestALaterReportTakesNothingBack(t *testing.T) {
	first := token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 20, Answer: 20, Reasoning: 30, Searches: 2}, Known: true}
	for name, tt := range map[string]struct{ next, want token.Usage }{
		"unknown": {token.Usage{}, first},
		"more": {
			token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 20, Answer: 50, Reasoning: 10, Searches: 2}, Known: true},
			token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 20, Answer: 50, Reasoning: 10, Searches: 2}, Known: true},
		},
		"a cache that was unknown": {
			token.Usage{Counts: token.Counts{Fresh: 10, CacheRead: 110, Answer: 50, Searches: 2}, Known: true},
			token.Usage{Counts: token.Counts{Fresh: 10, CacheRead: 110, Answer: 50, Searches: 2}, Known: true},
		},
		"less": {
			token.Usage{Counts: token.Counts{Fresh: 5, Answer: 40, Searches: 1}, Known: true, Terms: token.Flex},
			token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 20, Answer: 20, Reasoning: 30, Searches: 2}, Known: true, Terms: token.Flex, Inconsistent: true},
		},
	} {
		assert.Equal(t, tt.want, first.Then(tt.next), name)
	}
	less := token.Usage{Counts: token.Counts{Fresh: 5, Answer: 5}, Known: true}
	assert.False(t, first.Then(less).Then(first).Inconsistent, "the last report has all: those before it were of parts")
	assert.True(t, token.Usage{Known: true, Inconsistent: true}.Plus(token.Usage{Known: true}).Inconsistent)
}

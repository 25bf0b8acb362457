package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const usageTable = `gateway_usage (span, at, api_key, holder, limit_name, model, provider, upstream, outcome, currency,
	requests, calls, streams, estimated, unpriced,
	fresh, cache_read, cache_write, cache_write_long, answer, reasoning, searches, cost, held, duration, ttfb, ttfb_n)`

// usageExists adds the sums of a row to those of the row that exists.
var usageExists = func() string {
	changes := make([]string, len(sumColumns))
	for i, column := range sumColumns {
		changes[i] = fmt.Sprintf("%[1]s = CASE WHEN gateway_usage.%[1]s > %[2]d - excluded.%[1]s THEN %[2]d ELSE gateway_usage.%[1]s + excluded.%[1]s END",
			column, int64(largestSum))
	}
	return " ON CONFLICT (span, at, api_key, holder, limit_name, model, provider, upstream, outcome, currency) DO UPDATE SET " + strings.Join(changes, ", ")
}()

// largestSum bounds the sums of a row. Providers choose the counts of their answers, and
// a sum beyond the integers of the database would keep all later records out of it.
const largestSum = 1 << 58

// plus returns a+b, at most largestSum.
func plus(a, b int64) int64 {
	if b > largestSum-a {
		return largestSum
	}
	return a + b
}

// sumsOf returns the sums of a row of gateway_usage, in the order of its columns.
func sumsOf(u *aigateway.Usage) []*int64 {
	counts := tokenCounts(&u.Tokens)
	return slices.Concat(
		[]*int64{&u.Requests, &u.Calls, &u.Streams, &u.Estimated, &u.Unpriced},
		counts[:],
		[]*int64{&u.Cost.Nanos, &u.Held, (*int64)(&u.Duration), (*int64)(&u.FirstByte), &u.FirstBytes},
	)
}

// sums are usage by what it is about.
type sums map[rollupKey]*aigateway.Usage

// grain is the unit of time in which records are added up first. Hours, days and months
// begin with a grain in every time zone.
const grain = 15 * time.Minute

// sums returns what the batch adds to gateway_usage.
func (b batch) sums(known names, zone *time.Location) (rows [][]any) {
	grains := make(sums)
	for _, e := range b {
		grains.addRecord(rollupKeyOf(e.record, known), e.record, known)
	}
	return grains.rows(zone)
}

// addRecord adds a record. The request counts where its last call does.
func (s sums) addRecord(key rollupKey, r *aigateway.Record, known names) {
	for i := range r.Calls {
		key = key.of(&r.Calls[i], known)
		addCall(s.at(key), &r.Calls[i])
	}
	sum := s.at(key)
	sum.Requests++
	sum.Streams += integer(r.Stream)
	sum.Duration += r.Duration
	if r.FirstByte > 0 {
		sum.FirstByte += r.FirstByte
		sum.FirstBytes++
	}
}

// at returns the sum of a key, a new one if there is none.
func (s sums) at(key rollupKey) *aigateway.Usage {
	sum := s[key]
	if sum == nil {
		sum = new(aigateway.Usage)
		s[key] = sum
	}
	return sum
}

func addCall(sum *aigateway.Usage, c *aigateway.Call) {
	sum.Calls++
	sum.Estimated += integer(c.Source >= aigateway.SourcePartial)
	sum.Unpriced += integer(!priced(c))
	counts := tokenCounts(&c.Tokens)
	for i, total := range tokenCounts(&sum.Tokens) {
		*total = plus(*total, *counts[i])
	}
	if priced(c) {
		sum.Cost.Nanos = plus(sum.Cost.Nanos, c.Cost.Nanos)
	}
	sum.Held = plus(sum.Held, c.Held.Nanos)
}

// addSums adds a sum to another one.
func addSums(total, part *aigateway.Usage) {
	added := sumsOf(part)
	for i, sum := range sumsOf(total) {
		*sum = plus(*sum, *added[i])
	}
}

// priced reports whether the cost of a call is known. What used nothing costs
// nothing, whatever its price is.
func priced(c *aigateway.Call) bool { return c.Price != "" || c.Source == aigateway.SourceNone }

// currency returns the currency of a call's amounts.
func currency(c *aigateway.Call) string {
	if c.Cost.Currency != "" {
		return c.Cost.Currency
	}
	return c.Held.Currency
}

func integer(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

package ledger

import (
	"fmt"
	"maps"
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
type sums map[about]*aigateway.Usage

// about is what a sum is about: a grain, as the time in milliseconds at which it begins,
// and texts.
type about struct {
	grain                                                          int64
	key, user, limit, model, provider, upstream, outcome, currency string
}

// grain is the unit of time in which records are added up. Hours, days and months begin
// with a grain in every time zone.
const grain = 15 * time.Minute

// aboutRecord returns what the sum of a record without calls is about.
func aboutRecord(r *aigateway.Record) about {
	at := r.Admitted.UnixMilli()
	return about{grain: at - at%grain.Milliseconds(), key: r.Key, user: r.User, limit: r.Limit, model: r.Model, outcome: r.Outcome}
}

// call returns what the sum of a call of the record is about.
func (a about) call(c *aigateway.Call) about {
	a.provider, a.upstream, a.currency = c.Provider, c.Model, currency(c)
	return a
}

// addRecord adds a record. The request counts where its last call does.
func (s sums) addRecord(r *aigateway.Record) {
	about := aboutRecord(r)
	var sum *aigateway.Usage
	for i := range r.Calls {
		sum = s.of(about.call(&r.Calls[i]))
		addCall(sum, &r.Calls[i])
	}
	if sum == nil {
		sum = s.of(about)
	}
	sum.Requests++
	sum.Streams += integer(r.Stream)
	sum.Duration += r.Duration
	if r.FirstByte > 0 {
		sum.FirstByte += r.FirstByte
		sum.FirstBytes++
	}
}

// of returns a sum, a new one if there is none.
func (s sums) of(a about) *aigateway.Usage {
	sum := s[a]
	if sum == nil {
		sum = new(aigateway.Usage)
		s[a] = sum
	}
	return sum
}

// texts returns the texts of the sums.
func (s sums) texts() map[string]textKind {
	texts := make(map[string]textKind)
	for a := range s {
		texts[a.model], texts[a.upstream] = chosen, chosen
	}
	for a := range s {
		for _, text := range [...]string{a.key, a.user, a.limit, a.provider, a.outcome, a.currency} {
			texts[text] = configured
		}
	}
	return texts
}

// rows returns the sums as rows of gateway_usage, those of all spans with their totals, in
// the order of its primary key: transactions that lock rows in one order do not wait for
// each other in a circle.
func (s sums) rows(known names, zone *time.Location) (rows [][]any) {
	sums := make(map[rollupKey]*aigateway.Usage)
	for a, sum := range s {
		for _, span := range spans {
			key := a.in(span, known, zone)
			addTo(sums, key, sum)
			addTo(sums, key.total(), sum)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(sums), rollupKey.compare) {
		row := key.values()
		for _, sum := range sumsOf(sums[key]) {
			row = append(row, *sum)
		}
		rows = append(rows, row)
	}
	return rows
}

// in returns the key of the row for a span.
func (a about) in(s span, known names, zone *time.Location) rollupKey {
	return rollupKey{
		span: s, at: s.begin(time.UnixMilli(a.grain), zone).UnixMilli(),
		key: known.id(a.key), user: known.id(a.user), limit: known.id(a.limit), model: known.id(a.model),
		provider: known.id(a.provider), upstream: known.id(a.upstream), outcome: known.id(a.outcome), currency: known.id(a.currency),
	}
}

// addTo adds a sum to the one of a key.
func addTo(sums map[rollupKey]*aigateway.Usage, key rollupKey, sum *aigateway.Usage) {
	if sums[key] == nil {
		sums[key] = new(aigateway.Usage)
	}
	addSums(sums[key], sum)
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

package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// batch is the records that one transaction applies, by their ids in the database.
type batch map[int64]*aigateway.Record

const (
	recordTable  = `gateway_ledger (id, request, api_key, holder, limit_name, model, operation, format, outcome, stream, status, ttfb, duration)`
	recordExists = ` ON CONFLICT (id) DO NOTHING RETURNING id`

	callTable = `gateway_ledger_calls (id, call, provider, upstream, answered, format, status, source, terms,
		fresh, cache_read, cache_write, cache_write_long, answer, reasoning, searches, price, currency, cost, held)`

	usageTable = `gateway_usage (span, at, api_key, holder, limit_name, model, provider, upstream, outcome, currency,
		requests, calls, streams, estimated, unpriced,
		fresh, cache_read, cache_write, cache_write_long, answer, reasoning, searches, cost, held, duration, ttfb, ttfb_n)`
)

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
	return slices.Concat(
		[]*int64{&u.Requests, &u.Calls, &u.Streams, &u.Estimated, &u.Unpriced},
		tokenCounts(&u.Tokens),
		[]*int64{&u.Cost.Nanos, &u.Held, (*int64)(&u.Duration), (*int64)(&u.FirstByte), &u.FirstBytes},
	)
}

// apply writes the records that the database does not have yet, and adds them to the
// sums.
func (b batch) apply(tx database.Statements, known names, zone *time.Location) error {
	if err := known.add(tx, b.texts()); err != nil {
		return err
	}
	if err := b.insertRecords(tx, known); err != nil {
		return err
	}
	var calls [][]any
	for _, id := range slices.Sorted(maps.Keys(b)) {
		for i := range b[id].Calls {
			calls = append(calls, callRow(id, i, &b[id].Calls[i], known))
		}
	}
	if err := insert(tx, callTable, "", calls); err != nil {
		return err
	}
	return insert(tx, usageTable, usageExists, b.sums(known, zone))
}

// texts returns all texts that the tables have as ids.
func (b batch) texts() map[string]textKind {
	texts := make(map[string]textKind)
	for _, r := range b {
		texts[r.Model] = chosen
		for i := range r.Calls {
			texts[r.Calls[i].Model], texts[r.Calls[i].Answered] = chosen, chosen
		}
	}
	for _, r := range b {
		for _, text := range [...]string{r.Key, r.User, r.Limit, r.Operation, r.Format, r.Outcome} {
			texts[text] = configured
		}
		for i := range r.Calls {
			c := &r.Calls[i]
			for _, text := range [...]string{c.Provider, c.Format, c.Price, currency(c)} {
				texts[text] = configured
			}
		}
	}
	return texts
}

// insertRecords drops the records from the batch that the database has already.
func (b batch) insertRecords(tx database.Statements, known names) error {
	added := make(map[int64]bool, len(b))
	var rows [][]any
	for _, id := range slices.Sorted(maps.Keys(b)) {
		rows = append(rows, recordRow(id, b[id], known))
	}
	read := func(row database.Scanner) error {
		var id int64
		err := row.Scan(&id)
		added[id] = true
		return err
	}
	err := each(rows, func(values string, args []any) error {
		return tx.Each(read, `INSERT INTO `+recordTable+` VALUES `+values+recordExists, args...)
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(b, func(id int64, _ *aigateway.Record) bool { return !added[id] })
	return nil
}

func recordRow(id int64, r *aigateway.Record, known names) []any {
	return []any{
		id, database.Text(r.Request), known.id(r.Key), known.id(r.User), known.id(r.Limit), known.id(r.Model),
		known.id(r.Operation), known.id(r.Format), known.id(r.Outcome), integer(r.Stream), int64(r.Status),
		int64(r.FirstByte), int64(r.Duration),
	}
}

func callRow(id int64, i int, c *aigateway.Call, known names) []any {
	row := []any{
		id, int64(i), known.id(c.Provider), known.id(c.Model), known.id(c.Answered), known.id(c.Format),
		int64(c.Status), int64(c.Source), int64(c.Terms),
	}
	for _, count := range tokenCounts(&c.Tokens) {
		row = append(row, *count)
	}
	var cost any // NULL if it is unknown
	if priced(c) {
		cost = c.Cost.Nanos
	}
	return append(row, known.id(c.Price), known.id(currency(c)), cost, c.Held.Nanos)
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

// sums returns what the batch adds to gateway_usage.
func (b batch) sums(known names, zone *time.Location) (rows [][]any) {
	sums := make(map[rollupKey]*aigateway.Usage)
	for _, r := range b {
		key := rollupKeyOf(r, known)
		for _, s := range spans {
			addRecord(sums, key.in(s, r.Admitted, zone), r, known)
		}
	}
	return rollupRows(sums)
}

// addRecord adds a record to the sums of one span, with the key of the record in that
// span. The request counts where its last call does.
func addRecord(sums map[rollupKey]*aigateway.Usage, key rollupKey, r *aigateway.Record, known names) {
	for i := range r.Calls {
		key = key.of(&r.Calls[i], known)
		addCall(at(sums, key), &r.Calls[i])
	}
	sum := at(sums, key)
	sum.Requests++
	sum.Streams += integer(r.Stream)
	sum.Duration += r.Duration
	if r.FirstByte > 0 {
		sum.FirstByte += r.FirstByte
		sum.FirstBytes++
	}
}

func at(sums map[rollupKey]*aigateway.Usage, key rollupKey) *aigateway.Usage {
	if sums[key] == nil {
		sums[key] = new(aigateway.Usage)
	}
	return sums[key]
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

package ledger

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// sumTable is a table of sums. Its rows have a key, and then the columns sumColumns.
type sumTable struct {
	name string
	key  []string // columns of the primary key
}

var (
	// usageTable has the sums of all exchanges.
	usageTable = sumTable{"gateway_usage", strings.Fields(`span at api_key holder limit_name model provider upstream outcome currency`)}
	// labelTable has the sums of exchanges with a label, once for each label of theirs.
	labelTable = sumTable{"gateway_usage_labels", slices.Concat([]string{"label", "value"}, usageTable.key)}
)

// insert inserts rows, or adds their sums to existing rows.
func (t sumTable) insert(tx database.Statements, rows [][]any) error {
	return insertRows(tx, t.name+" ("+strings.Join(slices.Concat(t.key, sumColumns), ", ")+")", t.exists(), rows)
}

// exists returns the conflict clause that adds the sums of a row to an existing row.
func (t sumTable) exists() string {
	changes := make([]string, len(sumColumns))
	for i, column := range sumColumns {
		changes[i] = fmt.Sprintf("%[1]s = CASE WHEN %[3]s.%[1]s > %[2]d - excluded.%[1]s THEN %[2]d ELSE %[3]s.%[1]s + excluded.%[1]s END",
			column, int64(maxSum), t.name)
	}
	return " ON CONFLICT (" + strings.Join(t.key, ", ") + ") DO UPDATE SET " + strings.Join(changes, ", ")
}

// maxSum is the largest sum. Providers choose the counts in their answers. If a sum
// exceeded the integers of the database, no later record could be written.
const maxSum = 1 << 58

// plus returns a+b, but at most maxSum.
func plus(a, b int64) int64 {
	if b > maxSum-a {
		return maxSum
	}
	return a + b
}

// sumsOf returns the sums of a Usage in the order of the columns of gateway_usage.
func sumsOf(u *accounting.Usage) []*int64 {
	counts := tokenCounts(&u.Tokens)
	return slices.Concat(
		[]*int64{&u.Requests, &u.Calls, &u.Streams, &u.Estimated, &u.Unpriced},
		counts[:],
		[]*int64{&u.Cost.Nanos, &u.Held, (*int64)(&u.Duration), (*int64)(&u.FirstByte), &u.FirstBytes, &u.Saved},
	)
}

// sums are the sums of groups.
type sums map[group]*accounting.Usage

// group contains the properties that all calls of a sum have in common.
type group struct {
	start                                                          int64 // the beginning of a quarter of an hour, in milliseconds
	key, user, limit, model, provider, upstream, outcome, currency string
	label, value                                                   string // empty in the sum of all exchanges
}

// quarter is the unit of time of groups, in milliseconds. Hours, days and months begin with
// a quarter of an hour in every time zone.
const quarter = int64(15 * time.Minute / time.Millisecond)

// groupOf returns the group of a record without calls.
func groupOf(r *accounting.Record) group {
	start := r.Admitted.UnixMilli()
	return group{start: start - start%quarter, key: r.Key, user: r.User, limit: r.Limit, model: r.Model, outcome: r.Outcome}
}

// withCall returns the group of a call of the record.
func (g group) withCall(c *accounting.Call) group {
	g.provider, g.upstream, g.currency = c.Provider, c.Model, currency(c)
	return g
}

// groupsOf returns the group of all exchanges, and then one for each label of a record,
// without calls.
func groupsOf(r *accounting.Record) iter.Seq[group] {
	return func(yield func(group) bool) {
		g := groupOf(r)
		if !yield(g) {
			return
		}
		for _, tag := range r.Tags {
			g.label, g.value = string(accounting.ByTag(tag.Name)), tag.Value
			if !yield(g) {
				return
			}
		}
		if g.label, g.value = string(accounting.ByCustomer), r.Customer; g.value != "" {
			yield(g)
		}
	}
}

// addRecord adds a record to the sums of all exchanges, and to those of its labels.
func (s sums) addRecord(r *accounting.Record) {
	for g := range groupsOf(r) {
		s.addTo(g, r)
	}
}

// addTo adds a record to groups. The request itself is added to the group of its last call.
func (s sums) addTo(g group, r *accounting.Record) {
	var sum *accounting.Usage
	for i := range r.Calls {
		sum = s.usageOf(g.withCall(&r.Calls[i]))
		addCall(sum, &r.Calls[i])
	}
	if sum == nil {
		sum = s.usageOf(g)
	}
	sum.Requests++
	sum.Streams += integer(r.Stream)
	sum.Duration += r.Duration
	if r.FirstByte > 0 {
		sum.FirstByte += r.FirstByte
		sum.FirstBytes++
	}
}

// usageOf returns the sum of a group. It adds an empty sum if there is none.
func (s sums) usageOf(g group) *accounting.Usage {
	if s[g] == nil {
		s[g] = new(accounting.Usage)
	}
	return s[g]
}

// texts returns the texts of the groups. A text that is both configured and chosen counts
// as configured.
func (s sums) texts() map[string]textKind {
	texts := make(map[string]textKind)
	for g := range s {
		texts[g.model], texts[g.upstream], texts[g.value] = chosen, chosen, chosen
	}
	for g := range s {
		for _, text := range [...]string{g.key, g.user, g.limit, g.provider, g.outcome, g.currency, g.label} {
			texts[text] = configured
		}
	}
	return texts
}

// write adds the sums to those of the database.
func (s sums) write(tx database.Statements, known names, zone *time.Location) error {
	usage, labelled := s.rows(known, zone)
	if err := usageTable.insert(tx, usage); err != nil {
		return err
	}
	return labelTable.insert(tx, labelled)
}

// rows returns the rows of usageTable for all spans and levels, and those of
// labelTable. The rows are ordered by their keys: transactions that lock rows in the same
// order cannot deadlock.
func (s sums) rows(known names, zone *time.Location) (usage, labelled [][]any) {
	sums := make(map[rowKey]*accounting.Usage)
	for g, sum := range s {
		for _, span := range spans {
			key := g.rowKey(span, known, zone)
			if key.label != 0 {
				addTo(sums, key, sum)
				continue
			}
			for _, level := range levels {
				addTo(sums, key.at(level), sum)
			}
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(sums), rowKey.compare) {
		row := key.values()
		for _, sum := range sumsOf(sums[key]) {
			row = append(row, *sum)
		}
		if key.label == 0 {
			usage = append(usage, row)
		} else {
			labelled = append(labelled, row)
		}
	}
	return usage, labelled
}

// rowKey returns the key of the row to which the sum of the group is added.
func (g group) rowKey(s span, known names, zone *time.Location) rowKey {
	return rowKey{
		span: s, start: s.begin(time.UnixMilli(g.start), zone).UnixMilli(),
		key: known.id(g.key), user: known.id(g.user), limit: known.id(g.limit), model: known.id(g.model),
		provider: known.id(g.provider), upstream: known.id(g.upstream), outcome: known.id(g.outcome), currency: known.id(g.currency),
		label: known.id(g.label), value: known.id(g.value),
	}
}

// addTo adds a sum to the sum of a key.
func addTo(sums map[rowKey]*accounting.Usage, key rowKey, sum *accounting.Usage) {
	if sums[key] == nil {
		sums[key] = new(accounting.Usage)
	}
	addSums(sums[key], sum)
}

// addCall adds a call to a sum. It does not count a request.
func addCall(sum *accounting.Usage, c *accounting.Call) {
	if c.Source == accounting.SourceCached { // no provider was called
		sum.Saved = plus(sum.Saved, c.Saved)
		return
	}
	sum.Calls++
	sum.Estimated += integer(c.Source >= accounting.SourcePartial)
	sum.Unpriced += integer(!c.Priced())
	counts := tokenCounts(&c.Tokens)
	for i, total := range tokenCounts(&sum.Tokens) {
		*total = plus(*total, *counts[i])
	}
	sum.Cost.Nanos = plus(sum.Cost.Nanos, c.Cost.Nanos)
	sum.Held = plus(sum.Held, c.Held.Nanos)
}

// addSums adds part to total.
func addSums(total, part *accounting.Usage) {
	added := sumsOf(part)
	for i, sum := range sumsOf(total) {
		*sum = plus(*sum, *added[i])
	}
}

// currency returns the currency of a call's amounts.
func currency(c *accounting.Call) string {
	if c.Cost.Currency != "" {
		return c.Cost.Currency
	}
	return c.Held.Currency
}

// integer returns 1 for true, and 0 for false.
func integer(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

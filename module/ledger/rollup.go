package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// span is a unit of time, for which the database has sums.
type span int64

// The spans. The numbers are in the database.
const (
	hour  span = 1
	day   span = 2
	month span = 3
)

var spans = [...]span{hour, day, month}

// totals is added to the span of rows with the sums of all exchanges. Queries that group
// by time alone read these rows.
const totals = 3

// begin returns the beginning of the span that contains a point in time. Hours begin with
// the hours of the time zone. So days and months consist of whole hours, even in a zone
// with an offset of half an hour.
func (s span) begin(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	switch s {
	case day:
		return aigateway.DayBegin(at.Year(), at.Month(), at.Day(), zone)
	case month:
		return aigateway.DayBegin(at.Year(), at.Month(), 1, zone)
	}
	_, offset := at.Zone()
	local := time.Duration(offset) * time.Second
	return at.UTC().Add(local).Truncate(time.Hour).Add(-local)
}

// end returns the end of the span that begins at begin.
func (s span) end(begin time.Time, zone *time.Location) time.Time {
	begin = begin.In(zone)
	switch s {
	case day:
		return aigateway.DayBegin(begin.Year(), begin.Month(), begin.Day()+1, zone)
	case month:
		return aigateway.DayBegin(begin.Year(), begin.Month()+1, 1, zone)
	}
	return begin.Add(time.Hour)
}

// ceil returns the first beginning of a span at or after a point in time.
func (s span) ceil(at time.Time, zone *time.Location) time.Time {
	if begin := s.begin(at, zone); begin.Equal(at) {
		return begin
	}
	return s.end(s.begin(at, zone), zone)
}

// interval contains the spans of one kind that begin at or after from, and before to.
type interval struct {
	span     span
	from, to time.Time
}

// cover returns intervals that together are the time between from and to. The spans are
// whole months, whole days before and after them, and hours at both ends. No span is
// longer than longest. An interval of shorter spans lies within one span of longest.
func cover(from, to time.Time, longest span, zone *time.Location) []interval {
	if !from.Before(to) {
		return nil
	}
	if longest == hour {
		return []interval{{hour, from, to}}
	}
	begin, end := longest.ceil(from, zone), longest.begin(to, zone)
	if end.Before(begin) {
		return cover(from, to, longest-1, zone)
	}
	var whole []interval
	if begin.Before(end) {
		whole = []interval{{longest, begin, end}}
	}
	return slices.Concat(cover(from, begin, longest-1, zone), whole, cover(end, to, longest-1, zone))
}

// rowKey is the primary key of a row of a table of sums. All numbers after at are ids of
// names.
type rowKey struct {
	span                                                           span
	at                                                             int64
	key, user, limit, model, provider, upstream, outcome, currency int64
	label, value                                                   int64 // 0 in the sum of all exchanges
}

// total returns the key of the row for all exchanges.
func (k rowKey) total() rowKey {
	return rowKey{span: k.span + totals, at: k.at, currency: k.currency}
}

// values returns the key as the values of the columns of its table.
func (k rowKey) values() []any {
	if k.label != 0 {
		whole := k
		k.label = 0
		return append([]any{whole.label, whole.value}, k.values()...)
	}
	return []any{int64(k.span), k.at, k.key, k.user, k.limit, k.model, k.provider, k.upstream, k.outcome, k.currency}
}

// compare orders keys like the index of the primary key.
func (k rowKey) compare(other rowKey) int {
	return cmp.Or(
		cmp.Compare(k.label, other.label), cmp.Compare(k.value, other.value),
		cmp.Compare(k.span, other.span), cmp.Compare(k.at, other.at), cmp.Compare(k.key, other.key),
		cmp.Compare(k.user, other.user), cmp.Compare(k.limit, other.limit), cmp.Compare(k.model, other.model), cmp.Compare(k.provider, other.provider),
		cmp.Compare(k.upstream, other.upstream), cmp.Compare(k.outcome, other.outcome), cmp.Compare(k.currency, other.currency),
	)
}

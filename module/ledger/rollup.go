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

// begin returns the beginning of the span that contains a point in time. Hours begin with
// the hours of the time zone. So days and months consist of whole hours, even in a zone
// with an offset of half an hour.
func (s span) begin(moment time.Time, zone *time.Location) time.Time {
	moment = moment.In(zone)
	switch s {
	case day:
		return aigateway.DayBegin(moment.Year(), moment.Month(), moment.Day(), zone)
	case month:
		return aigateway.DayBegin(moment.Year(), moment.Month(), 1, zone)
	}
	_, offset := moment.Zone()
	local := time.Duration(offset) * time.Second
	return moment.UTC().Add(local).Truncate(time.Hour).Add(-local)
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
func (s span) ceil(moment time.Time, zone *time.Location) time.Time {
	if begin := s.begin(moment, zone); begin.Equal(moment) {
		return begin
	}
	return s.end(s.begin(moment, zone), zone)
}

// interval contains the spans of one kind that begin at or after start, and before end.
type interval struct {
	span       span
	start, end time.Time
}

// cover returns intervals that together are the time between first and last. The spans are
// whole months, whole days before and after them, and hours at both ends. No span is
// longer than longest. An interval of shorter spans lies within one span of longest.
func cover(first, last time.Time, longest span, zone *time.Location) []interval {
	if !first.Before(last) {
		return nil
	}
	if longest == hour {
		return []interval{{hour, first, last}}
	}
	begin, end := longest.ceil(first, zone), longest.begin(last, zone)
	if end.Before(begin) {
		return cover(first, last, longest-1, zone)
	}
	var whole []interval
	if begin.Before(end) {
		whole = []interval{{longest, begin, end}}
	}
	return slices.Concat(cover(first, begin, longest-1, zone), whole, cover(end, last, longest-1, zone))
}

// rowKey is the primary key of a row of a table of sums. All numbers after start are ids of
// names.
type rowKey struct {
	span                                                           span
	start                                                          int64
	key, user, limit, model, provider, upstream, outcome, currency int64
	label, value                                                   int64 // 0 in the sum of all exchanges
}

// at returns the key of the row of a level to which the sum of the key is added.
func (k rowKey) at(l level) rowKey {
	k = l.reduce(k)
	k.span += l.spans
	return k
}

// values returns the key as the values of the columns of its table.
func (k rowKey) values() []any {
	if k.label != 0 {
		whole := k
		k.label = 0
		return append([]any{whole.label, whole.value}, k.values()...)
	}
	return []any{int64(k.span), k.start, k.key, k.user, k.limit, k.model, k.provider, k.upstream, k.outcome, k.currency}
}

// compare orders keys like the index of the primary key.
func (k rowKey) compare(other rowKey) int {
	return cmp.Or(
		cmp.Compare(k.label, other.label), cmp.Compare(k.value, other.value),
		cmp.Compare(k.span, other.span), cmp.Compare(k.start, other.start), cmp.Compare(k.key, other.key),
		cmp.Compare(k.user, other.user), cmp.Compare(k.limit, other.limit), cmp.Compare(k.model, other.model), cmp.Compare(k.provider, other.provider),
		cmp.Compare(k.upstream, other.upstream), cmp.Compare(k.outcome, other.outcome), cmp.Compare(k.currency, other.currency),
	)
}

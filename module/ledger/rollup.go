package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// span is a unit of time of sums.
type span int64

// The spans, as the tables have them.
const (
	hour  span = 1
	day   span = 2
	month span = 3
)

var spans = [...]span{hour, day, month}

// totals is what the tables add to a span in sums of all exchanges together, which are
// read where usage is divided by time alone.
const totals = 3

// begin returns the beginning of the span that a moment is in, in a time zone. An hour begins
// with one of the zone, so that days and months consist of whole hours, also where local
// time is half an hour off.
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

// end returns the end of the span that begins at a moment.
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

// ceil returns the first beginning of a span at a moment or later.
func (s span) ceil(at time.Time, zone *time.Location) time.Time {
	if begin := s.begin(at, zone); begin.Equal(at) {
		return begin
	}
	return s.end(s.begin(at, zone), zone)
}

// interval is the spans of a kind that begin from a moment on, before another.
type interval struct {
	span     span
	from, to time.Time
}

// cover returns the intervals that make up the time between two moments, of spans no
// longer than the longest: whole months, whole days around them, and hours at both
// ends. An interval of shorter spans is within one of the longest.
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

// rollupKey is what a row of gateway_usage is about.
type rollupKey struct {
	span                                                           span
	at                                                             int64
	key, user, limit, model, provider, upstream, outcome, currency int64
}

// total returns the key of all exchanges together.
func (k rollupKey) total() rollupKey {
	return rollupKey{span: k.span + totals, at: k.at, currency: k.currency}
}

func (k rollupKey) values() []any {
	return []any{int64(k.span), k.at, k.key, k.user, k.limit, k.model, k.provider, k.upstream, k.outcome, k.currency}
}

// compare orders keys as the primary key does.
func (k rollupKey) compare(other rollupKey) int {
	return cmp.Or(
		cmp.Compare(k.span, other.span), cmp.Compare(k.at, other.at), cmp.Compare(k.key, other.key),
		cmp.Compare(k.user, other.user), cmp.Compare(k.limit, other.limit), cmp.Compare(k.model, other.model), cmp.Compare(k.provider, other.provider),
		cmp.Compare(k.upstream, other.upstream), cmp.Compare(k.outcome, other.outcome), cmp.Compare(k.currency, other.currency),
	)
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// dimension is a column by which sums are grouped, and the field for its text.
type dimension struct {
	column string
	text   func(*accounting.Usage) *string
}

var dimensions = map[accounting.Dimension]dimension{
	accounting.ByKey:      {"api_key", func(u *accounting.Usage) *string { return &u.Key }},
	accounting.ByUser:     {"holder", func(u *accounting.Usage) *string { return &u.User }},
	accounting.ByLimit:    {"limit_name", func(u *accounting.Usage) *string { return &u.Limit }},
	accounting.ByModel:    {"model", func(u *accounting.Usage) *string { return &u.Model }},
	accounting.ByProvider: {"provider", func(u *accounting.Usage) *string { return &u.Provider }},
	accounting.ByUpstream: {"upstream", func(u *accounting.Usage) *string { return &u.Upstream }},
	accounting.ByOutcome:  {"outcome", func(u *accounting.Usage) *string { return &u.Outcome }},
	accounting.ByLabel:    {"label", func(u *accounting.Usage) *string { return &u.Label }},
}

// currencies is the last dimension of every query.
var currencies = dimension{"currency", func(u *accounting.Usage) *string { return &u.Cost.Currency }}

// units are the dimensions of time.
var units = map[accounting.Dimension]span{accounting.ByHour: hour, accounting.ByDay: day, accounting.ByMonth: month}

// ErrQuery is wrapped by errors for invalid queries.
var ErrQuery = errors.New("invalid query")

// grouping contains the dimensions of a query.
type grouping struct {
	dimensions []dimension // without the unit of time and the currency
	unit       span        // the unit of time; 0 for none

	label accounting.Dimension // whose values are among the dimensions, or ByLabel; empty for none
}

// customers and tags are the dimensions of labels.
var (
	customers = dimension{"value", func(u *accounting.Usage) *string { return &u.Customer }}
	tags      = dimension{"value", func(u *accounting.Usage) *string { return &u.Tag }}
)

func parseGrouping(list []accounting.Dimension) (d grouping, err error) {
	for i, name := range list {
		if unit, ok := units[name]; ok && d.unit == 0 {
			d.unit = unit
			continue
		}
		if name.IsLabel() && d.label == "" {
			d.label = name
			d.dimensions = append(d.dimensions, labels(name))
			continue
		}
		dim, ok := dimensions[name]
		if name == accounting.ByLabel {
			ok = d.label == ""
			d.label = name
		}
		if !ok || slices.Contains(list[:i], name) {
			return d, fmt.Errorf("%w: cannot group by %q: unknown, repeated, or a second unit of time or label", ErrQuery, name)
		}
		d.dimensions = append(d.dimensions, dim)
	}
	return d, nil
}

// labels returns the dimension of a label.
func labels(name accounting.Dimension) dimension {
	if name.IsTag() {
		return tags
	}
	return customers
}

// longest returns the longest span whose rows can be read.
func (d grouping) longest() span {
	if d.unit == 0 {
		return month
	}
	return d.unit
}

// Usage implements accounting.LedgerReader.
func (r *Reader) Usage(ctx context.Context, q accounting.UsageQuery) (usage []accounting.Usage, err error) {
	d, err := parseGrouping(q.By)
	if err != nil {
		return nil, err
	}
	switch {
	case q.Largest != nil && (len(d.dimensions) == 0 || measures[q.Largest.Measure] == ""):
		return nil, fmt.Errorf("%w: the largest need a dimension besides time, and a measure", ErrQuery)
	case !canSelect(q.Only):
		return nil, fmt.Errorf("%w: only names can be selected", ErrQuery)
	case q.Label == "":
		q.Label = d.label
	case !q.Label.IsLabel() || d.label != "" && d.label != q.Label:
		return nil, fmt.Errorf("%w: %q is no label, or a second one", ErrQuery, q.Label)
	}
	err = r.db.Query(ctx, "adding up usage", func(db database.Statements) error {
		state, err := readState(db)
		if err != nil {
			return err
		}
		usage, err = selection{q, d, state}.read(db)
		return err
	})
	return usage, err
}

// canSelect reports whether exchanges can be selected by all of some dimensions.
func canSelect(only map[accounting.Dimension]string) bool {
	for name := range only {
		if _, ok := dimensions[name]; !ok || name == accounting.ByLabel {
			return false
		}
	}
	return true
}

// Location implements accounting.LedgerReader.
func (r *Reader) Location(ctx context.Context) (zone *time.Location, err error) {
	err = r.db.Query(ctx, "reading the zone of the ledger", func(db database.Statements) error {
		state, err := readState(db)
		zone = state.zone
		return err
	})
	return zone, err
}

// state is what the database contains about all of its sums.
type state struct {
	zone     *time.Location // of days and months
	levelled time.Time      // since when all levels have rows
}

func readState(db database.Statements) (s state, err error) {
	var zone string
	var levelled int64
	if err := db.Row(`SELECT zone, levelled FROM gateway_ledger_state`).Scan(&zone, &levelled); err != nil {
		return s, err
	}
	s.levelled = time.UnixMilli(levelled)
	s.zone, err = time.LoadLocation(zone)
	return s, err
}

// selection is a query with its parsed grouping and the state of the ledger.
type selection struct {
	query  accounting.UsageQuery
	groups grouping
	state  state
}

// read returns the sums of the selection. For a page, it reads one window of time after
// the other until the page is full: a statement over a whole year adds up the year, even
// if the page needs the first days only.
func (s selection) read(db database.Statements) (usage []accounting.Usage, err error) {
	limit := s.query.Limit
	if limit == 0 {
		limit = accounting.MostSums + 1
	}
	first, last := hour.begin(s.query.From, s.state.zone), hour.ceil(s.query.To, s.state.zone)
	if s.query.After != nil && s.query.After.At.After(first) && s.query.Largest == nil {
		first = s.query.After.At
	}
	for window := firstWindow[s.groups.unit]; first.Before(last) && len(usage) < limit; {
		end := s.windowEnd(first, last, window)
		some, err := s.readSums(db, cover(first, end, s.groups.longest(), s.state.zone), limit-len(usage))
		if err != nil {
			return nil, err
		}
		usage, first = append(usage, some...), end
		window = s.nextWindow(window, len(some), limit-len(usage))
	}
	if s.query.Limit == 0 && len(usage) == limit {
		return nil, database.Refuse(accounting.ErrManySums)
	}
	return usage, nil
}

// firstWindow is the length of the first window of a page, by the unit of time.
var firstWindow = map[span]time.Duration{hour: 24 * time.Hour, day: 31 * 24 * time.Hour}

// maxWindow is a century: a Duration cannot be longer than 292 years.
const maxWindow = float64(100 * 365 * 24 * time.Hour)

// nextWindow returns the length of the window that probably contains the needed number of
// sums, if the last window contained had sums. A window is at most four times as long as
// the last one, because it may contain more sums.
func (s selection) nextWindow(window time.Duration, had, needed int) time.Duration {
	growth := min(4, float64(needed)/float64(max(had, 1)))
	return max(firstWindow[s.groups.unit], time.Duration(min(growth*float64(window), maxWindow)))
}

// windowEnd returns the end of the window that begins at start: the beginning of a unit of
// time, or latest. A selection without a window or without a limit is read in one piece, and so
// is one of the largest values, which are those of the whole time.
func (s selection) windowEnd(start, latest time.Time, window time.Duration) time.Time {
	if window == 0 || s.query.Limit == 0 || s.query.Largest != nil {
		return latest
	}
	end := s.groups.unit.ceil(start.Add(window), s.state.zone)
	if end.After(latest) {
		return latest
	}
	return end
}

// readSums returns the first sums over some intervals, at most limit sums.
func (s selection) readSums(db database.Statements, parts []interval, limit int) (usage []accounting.Usage, err error) {
	// mergeUnpriced makes one sum of at most two rows, and needs the row after them.
	query, args := sumQuery(s, parts, 2*limit+1)
	err = db.Each(func(row database.Scanner) error {
		sum, err := s.scan(row)
		usage = append(usage, sum)
		return err
	}, query, args...)
	usage = s.groups.mergeUnpriced(usage)
	return usage[:min(limit, len(usage))], err
}

// scan reads a row of sumQuery.
func (s selection) scan(row database.Scanner) (sum accounting.Usage, err error) {
	var start int64
	fields := []any{&start}
	for _, dim := range s.groups.textDimensions() {
		fields = append(fields, dim.text(&sum))
	}
	for _, column := range sumsOf(&sum) {
		fields = append(fields, column)
	}
	if s.query.Largest != nil {
		fields = append(fields, &sum.Others)
	}
	err = row.Scan(fields...)
	if s.groups.unit != 0 {
		sum.At = time.UnixMilli(start).UTC()
	}
	return sum, err
}

// textDimensions returns the dimensions other than time, in the order in which sums are
// sorted.
func (d grouping) textDimensions() []dimension { return append(slices.Clone(d.dimensions), currencies) }

// sameGroup reports whether two sums have the same dimensions, except for the currency.
func (d grouping) sameGroup(a, b *accounting.Usage) bool {
	return a.At.Equal(b.At) && !slices.ContainsFunc(d.dimensions, func(dim dimension) bool { return *dim.text(a) != *dim.text(b) })
}

// mergeUnpriced adds each sum without a currency to the sum of the same group in the only
// currency of the group. The costs in such a sum are unknown or zero. If a group has several
// currencies, nobody knows to which of them the costs belong: the sum remains.
func (d grouping) mergeUnpriced(usage []accounting.Usage) (kept []accounting.Usage) {
	for i := range usage {
		if usage[i].Cost.Currency == "" && d.continues(usage, i+1) && !d.continues(usage, i+2) {
			addSums(&usage[i+1], &usage[i])
			continue
		}
		kept = append(kept, usage[i])
	}
	return kept
}

// continues reports whether there is a sum i, of the same group as the sum before it.
func (d grouping) continues(usage []accounting.Usage, i int) bool {
	return i < len(usage) && d.sameGroup(&usage[i-1], &usage[i])
}

package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// dimension is a column that sums are divided by, and where its text goes.
type dimension struct {
	column string
	text   func(*aigateway.Usage) *string
}

var dimensions = map[aigateway.Dimension]dimension{
	aigateway.ByKey:      {"api_key", func(u *aigateway.Usage) *string { return &u.Key }},
	aigateway.ByUser:     {"holder", func(u *aigateway.Usage) *string { return &u.User }},
	aigateway.ByModel:    {"model", func(u *aigateway.Usage) *string { return &u.Model }},
	aigateway.ByProvider: {"provider", func(u *aigateway.Usage) *string { return &u.Provider }},
	aigateway.ByUpstream: {"upstream", func(u *aigateway.Usage) *string { return &u.Upstream }},
	aigateway.ByOutcome:  {"outcome", func(u *aigateway.Usage) *string { return &u.Outcome }},
}

// currencies is the dimension that sums are always divided by, the last one.
var currencies = dimension{"currency", func(u *aigateway.Usage) *string { return &u.Cost.Currency }}

// units are the dimensions of time.
var units = map[aigateway.Dimension]span{aigateway.ByHour: hour, aigateway.ByDay: day, aigateway.ByMonth: month}

// ErrQuery is wrapped by errors of the caller of a query.
var ErrQuery = errors.New("the query is wrong")

// division is how sums are divided.
type division struct {
	by   []dimension // without the unit of time and the currency
	unit span        // 0 for none
}

func divide(by []aigateway.Dimension) (d division, err error) {
	for i, name := range by {
		if unit, ok := units[name]; ok && d.unit == 0 {
			d.unit = unit
			continue
		}
		known, ok := dimensions[name]
		if !ok || slices.Contains(by[:i], name) {
			return d, fmt.Errorf("%w: %q divides nothing, or was there before", ErrQuery, name)
		}
		d.by = append(d.by, known)
	}
	return d, nil
}

// longest returns the longest span whose sums can be used.
func (d division) longest() span {
	if d.unit == 0 {
		return month
	}
	return d.unit
}

// Usage implements aigateway.LedgerReader.
func (r *Reader) Usage(ctx context.Context, q aigateway.UsageQuery) (usage []aigateway.Usage, err error) {
	d, err := divide(q.By)
	if err != nil {
		return nil, err
	}
	err = r.db.Query(ctx, "adding up usage", func(in database.Statements) error {
		zone, err := readZone(in)
		if err != nil {
			return err
		}
		usage, err = selection{q, d, zone}.read(in)
		return err
	})
	return usage, err
}

// Location implements aigateway.LedgerReader.
func (r *Reader) Location(ctx context.Context) (zone *time.Location, err error) {
	err = r.db.Query(ctx, "reading the zone of the ledger", func(in database.Statements) error {
		zone, err = readZone(in)
		return err
	})
	return zone, err
}

func readZone(in database.Statements) (*time.Location, error) {
	var name string
	if err := in.Row(`SELECT zone FROM gateway_ledger_state`).Scan(&name); err != nil {
		return nil, err
	}
	return time.LoadLocation(name)
}

// selection is a query of sums, in the zone of a ledger.
type selection struct {
	aigateway.UsageQuery
	division
	zone *time.Location
}

// read reads the sums of a selection. A page reads one stretch of time after the other
// until it is full: adding up a year for the sums of its first days would take as long as
// for all of them.
func (s selection) read(in database.Statements) (usage []aigateway.Usage, err error) {
	most := s.Limit
	if most == 0 {
		most = aigateway.MostSums + 1
	}
	from, to := hour.begin(s.From, s.zone), hour.ceil(s.To, s.zone)
	if s.After != nil && s.After.At.After(from) {
		from = s.After.At
	}
	for stretch := firstStretch[s.unit]; from.Before(to) && len(usage) < most; {
		end := s.stretchEnd(from, to, stretch)
		some, err := s.readSums(in, cover(from, end, s.longest(), s.zone), most-len(usage))
		if err != nil {
			return nil, err
		}
		usage, from = append(usage, some...), end
		stretch = s.nextStretch(stretch, len(some), most-len(usage))
	}
	if s.Limit == 0 && len(usage) == most {
		return nil, database.Refuse(aigateway.ErrManySums)
	}
	return usage, nil
}

// firstStretch is how long the first stretch of time of a page is, by the unit of its
// sums.
var firstStretch = map[span]time.Duration{hour: 24 * time.Hour, day: 31 * 24 * time.Hour}

// longestStretch is a century, which a Duration can have.
const longestStretch = float64(100 * 365 * 24 * time.Hour)

// nextStretch returns how long the stretch of time is that probably has the sums that a
// page still needs, if one of the given length had so many. It grows to at most four
// times the length, as what follows may have more.
func (s selection) nextStretch(stretch time.Duration, had, needed int) time.Duration {
	growth := min(4, float64(needed)/float64(max(had, 1)))
	return max(firstStretch[s.unit], time.Duration(min(growth*float64(stretch), longestStretch)))
}

// stretchEnd returns the end of a stretch of time: the beginning of a unit, or the end of
// the selection. The sums of a page without a stretch are read at once, and so are all
// without a limit.
func (s selection) stretchEnd(from, to time.Time, stretch time.Duration) time.Time {
	if stretch == 0 || s.Limit == 0 {
		return to
	}
	end := s.unit.ceil(from.Add(stretch), s.zone)
	if end.After(to) {
		return to
	}
	return end
}

// readSums returns at most so many of the sums of some intervals.
func (s selection) readSums(in database.Statements, parts []interval, most int) (usage []aigateway.Usage, err error) {
	// Two rows become one sum at most: see withCurrency.
	query, args := sumQuery(s, parts, 2*most)
	err = in.Each(func(row database.Scanner) error {
		var sum aigateway.Usage
		var at int64
		into := []any{&at}
		for _, dim := range s.texts() {
			into = append(into, dim.text(&sum))
		}
		for _, column := range sumsOf(&sum) {
			into = append(into, column)
		}
		if err := row.Scan(into...); err != nil {
			return err
		}
		if s.unit != 0 {
			sum.At = time.UnixMilli(at).UTC()
		}
		usage = append(usage, sum)
		return nil
	}, query, args...)
	usage = s.withCurrency(usage)
	return usage[:min(most, len(usage))], err
}

// texts returns the dimensions of texts, in the order of sums.
func (d division) texts() []dimension { return append(slices.Clone(d.by), currencies) }

// same reports whether sums differ in their currency at most.
func (d division) same(a, b *aigateway.Usage) bool {
	return a.At.Equal(b.At) && !slices.ContainsFunc(d.by, func(dim dimension) bool { return *dim.text(a) != *dim.text(b) })
}

// withCurrency adds sums without a currency, whose costs are all unknown or zero, to
// the sum of the first currency that follows.
func (d division) withCurrency(usage []aigateway.Usage) (kept []aigateway.Usage) {
	for i := range usage {
		if i+1 < len(usage) && usage[i].Cost.Currency == "" && d.same(&usage[i], &usage[i+1]) {
			addSums(&usage[i+1], &usage[i])
			continue
		}
		kept = append(kept, usage[i])
	}
	return kept
}

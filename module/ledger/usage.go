package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// units are the dimensions of time.
var units = map[aigateway.Dimension]span{aigateway.ByHour: hour, aigateway.ByDay: day, aigateway.ByMonth: month}

// ErrQuery is wrapped by errors of the caller of a query.
var ErrQuery = errors.New("the query is wrong")

// division is how sums are divided.
type division struct {
	by   []dimension // without the unit of time
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

// Usage implements aigateway.LedgerReader. The sums come in the order of time, and then of
// the other dimensions.
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
		parts := cover(hour.begin(q.From, zone), hour.ceil(q.To, zone), d.longest(), zone)
		if len(parts) == 0 {
			return nil
		}
		sums, err := readSums(in, q, d, parts, zone)
		if err != nil {
			return err
		}
		usage, err = named(in, sums, d)
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

// group is what a sum is about: a time, a currency and ids of texts.
type group struct {
	at       int64 // 0 without a unit of time
	currency int64
	ids      [6]int64 // of as many dimensions as are asked for
}

// readSums adds up the rows of some intervals.
func readSums(in database.Statements, q aigateway.UsageQuery, d division, parts []interval, zone *time.Location) (map[group]*aigateway.Usage, error) {
	query, args := sumQuery(q, d, parts)
	sums := make(map[group]*aigateway.Usage)
	return sums, in.Each(func(row database.Scanner) error {
		var g group
		var part aigateway.Usage
		into := []any{&g.at, &g.currency}
		for i := range d.by {
			into = append(into, &g.ids[i])
		}
		for _, sum := range sumsOf(&part) {
			into = append(into, sum)
		}
		if err := row.Scan(into...); err != nil {
			return err
		}
		if d.unit != 0 {
			g.at = d.unit.begin(time.UnixMilli(g.at), zone).UnixMilli()
		}
		if sums[g] == nil {
			sums[g] = new(aigateway.Usage)
		}
		addSums(sums[g], &part)
		return nil
	}, query, args...)
}

// sumColumns are the sums, in the order of sumsOf.
var sumColumns = strings.Fields(`requests calls streams estimated unpriced
	fresh cache_read cache_write cache_write_long answer reasoning searches cost held duration ttfb ttfb_n`)

func sumQuery(q aigateway.UsageQuery, d division, parts []interval) (query string, args []any) {
	param := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	groups := []string{"currency"}
	for _, dim := range d.by {
		groups = append(groups, dim.column)
	}
	at := "0"
	if d.unit != 0 {
		at = "at"
		groups = append(groups, at)
	}
	selected := append([]string{at, "currency"}, groups[1:1+len(d.by)]...)
	for _, column := range sumColumns {
		selected = append(selected, "CAST(SUM("+column+") AS BIGINT)")
	}
	var times []string
	for _, part := range parts {
		if len(d.by) == 0 && q.User == "" && q.Key == "" && len(q.Limits) == 0 {
			part.span += totals
		}
		times = append(times, fmt.Sprintf("span = %d AND at >= %s AND at < %s", part.span, param(part.from.UnixMilli()), param(part.to.UnixMilli())))
	}
	where := "(" + strings.Join(times, " OR ") + ")"
	if q.User != "" {
		where += " AND holder = " + nameParam(param(database.Text(q.User)))
	}
	if q.Key != "" {
		where += " AND api_key = " + nameParam(param(database.Text(q.Key)))
	}
	if len(q.Limits) > 0 {
		var names []string
		for _, name := range q.Limits {
			names = append(names, nameParam(param(database.Text(name))))
		}
		where += " AND limit_name IN (" + strings.Join(names, ", ") + ")"
	}
	return "SELECT " + strings.Join(selected, ", ") + " FROM gateway_usage WHERE " + where + " GROUP BY " + strings.Join(groups, ", "), args
}

// nameParam returns the id of a text that is a parameter. No row has an unknown one.
func nameParam(param string) string {
	return "(SELECT id FROM gateway_names WHERE name = " + param + ")"
}

// named gives the texts to the sums, and orders them.
func named(in database.Statements, sums map[group]*aigateway.Usage, d division) (usage []aigateway.Usage, err error) {
	ids := make(map[int64]bool)
	for g := range sums {
		ids[g.currency] = true
		for _, id := range g.ids {
			ids[id] = true
		}
	}
	texts, err := textsOf(in, ids)
	if err != nil {
		return nil, err
	}
	for g, sum := range sums {
		if d.unit != 0 {
			sum.At = time.UnixMilli(g.at).UTC()
		}
		sum.Cost.Currency = texts[g.currency]
		for i, dim := range d.by {
			*dim.text(sum) = texts[g.ids[i]]
		}
		usage = append(usage, *sum)
	}
	slices.SortFunc(usage, func(a, b aigateway.Usage) int {
		return cmp.Or(d.compare(&a, &b), strings.Compare(a.Cost.Currency, b.Cost.Currency))
	})
	return d.withCurrency(usage), nil
}

// compare orders sums by the dimensions.
func (d division) compare(a, b *aigateway.Usage) int {
	order := a.At.Compare(b.At)
	for _, dim := range d.by {
		order = cmp.Or(order, strings.Compare(*dim.text(a), *dim.text(b)))
	}
	return order
}

// withCurrency adds sums without a currency, whose costs are all unknown or zero, to
// the sum of the first currency that follows.
func (d division) withCurrency(usage []aigateway.Usage) (kept []aigateway.Usage) {
	for i := range usage {
		if i+1 < len(usage) && usage[i].Cost.Currency == "" && d.compare(&usage[i], &usage[i+1]) == 0 {
			addSums(&usage[i+1], &usage[i])
			continue
		}
		kept = append(kept, usage[i])
	}
	return kept
}

package spend

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

const (
	mostNames  = 10   // in each list of a report
	mostBefore = 1000 // names of the period before
)

// report emits the spend of the period that contains a time, in its time zone.
func (r *Reporter) report(ctx context.Context, period alerts.Period, moment time.Time) error {
	from, to := span(period, moment)
	previous, _ := span(period, from.Add(-time.Second))
	data := map[string]any{
		"period": period.Name, "from": from.Format(time.RFC3339), "to": to.Format(time.RFC3339), "zone": moment.Location().String(), "ledger": r.Name,
	}
	lists := map[string][]accounting.Dimension{"totals": nil}
	for _, name := range alerts.SpendBy {
		lists[name] = []accounting.Dimension{accounting.Dimension(name)}
	}
	for member, dimensions := range lists {
		sums, err := r.sums(ctx, dimensions, previous, from, to)
		if err != nil {
			return fmt.Errorf("adding up the spend: %w", err)
		}
		data[member] = sums
	}
	r.emit(events.SpendReport, data)
	return nil
}

// name are the values that a sum is of.
type name struct{ value, currency string }

// sums returns the sums of a period, the highest costs first, with those of the period before, which
// begins at earliest.
func (r *Reporter) sums(ctx context.Context, dimensions []accounting.Dimension, earliest, begin, end time.Time) ([]alerts.Sum, error) {
	earlier, err := r.Ledger.Usage(ctx, query(dimensions, earliest, begin, mostBefore))
	if err != nil {
		return nil, err
	}
	costs, complete := make(map[name]int64, len(earlier)), true
	for i := range earlier {
		costs[nameOf(&earlier[i])] = micros(&earlier[i])
		complete = complete && earlier[i].Others == 0
	}
	usage, err := r.Ledger.Usage(ctx, query(dimensions, begin, end, mostNames))
	sums := make([]alerts.Sum, 0, len(usage))
	for i := range usage {
		u := &usage[i]
		if dimensions != nil && u.Calls == 0 && u.Cost.Nanos == 0 { // requests that were refused
			continue
		}
		name := nameOf(u)
		sum := alerts.Sum{Others: u.Others, Requests: u.Requests, CostMicro: micros(u), Currency: u.Cost.Currency, Floor: u.Unpriced > 0}
		if u.Others == 0 {
			sum.Name = name.value
			if cost, known := costs[name]; known || complete {
				sum.Previous = &cost
			}
		}
		sums = append(sums, sum)
	}
	slices.SortStableFunc(sums, func(a, b alerts.Sum) int {
		return cmp.Or(cmp.Compare(a.Others, b.Others), cmp.Compare(b.CostMicro, a.CostMicro))
	})
	return sums, err
}

// query returns the query of sums with the largest costs.
func query(dimensions []accounting.Dimension, begin, end time.Time, most int) accounting.UsageQuery {
	q := accounting.UsageQuery{From: begin, To: end, By: dimensions}
	if dimensions != nil {
		q.Largest = &accounting.Largest{Number: most, Measure: accounting.MeasureCost}
	}
	return q
}

// nameOf returns the name of a sum, whose other dimensions are empty.
func nameOf(u *accounting.Usage) name {
	return name{cmp.Or(u.Limit, u.User, u.Key, u.Model, u.Provider), u.Cost.Currency}
}

// micros returns the cost of a sum in millionths, rounded half up.
func micros(u *accounting.Usage) int64 { return (u.Cost.Nanos + 500) / 1000 }

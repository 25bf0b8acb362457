package spend

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/alerts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
)

const (
	lookEvery = time.Minute
	// settling is the time behind a period in which its last requests end, and the clocks of
	// gateways may differ.
	settling = 15 * time.Minute
	patience = time.Minute // for the ledger
	// mostMissed is how far back a period that was missed is looked for at the start. It is
	// longer than a month, and shorter than a webhook remembers a report.
	mostMissed = 62 * 24 * time.Hour
)

// Ledger is a ledger whose spend is reported.
type Ledger interface {
	// Usage returns sums over the exchanges that have ended before the call.
	Usage(context.Context, accounting.UsageQuery) ([]accounting.Usage, error)
	// Location returns the time zone in which the days of its sums begin, which is that of the
	// database, and not the configured one, if the two differ.
	Location(context.Context) (*time.Location, error)
}

// Reporter reports the spend of a ledger.
type Reporter struct {
	Ledger Ledger
	Name   string // of the ledger, in the events: the same in all gateways with its database
	Logger *zap.Logger

	emit    func(name string, data map[string]any) // events.Emit, except in tests
	looked  map[string]time.Time                   // the end of the last period that was looked at, by its name
	failing bool
}

// Run reports periods until the context ends.
func (r *Reporter) Run(ctx context.Context) {
	if r.emit == nil {
		r.emit = events.Emit
	}
	r.looked = make(map[string]time.Time)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		r.look(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// look reports the periods that have ended since the last look, and logs the first of several
// failures.
func (r *Reporter) look(ctx context.Context, now time.Time) {
	err := r.lookAtAll(ctx, now)
	if ctx.Err() != nil {
		return
	}
	if err != nil && !r.failing {
		r.Logger.Warn("the spend of a period cannot be reported; trying again", zap.Error(err))
	}
	r.failing = err != nil
}

func (r *Reporter) lookAtAll(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	zone, err := r.Ledger.Location(ctx)
	if err != nil {
		return fmt.Errorf("reading the zone of the ledger: %w", err)
	}
	for _, period := range alerts.Periods {
		if err := r.lookAt(ctx, period, now.In(zone)); err != nil {
			return err
		}
	}
	return nil
}

// lookAt reports the last ended period of a kind, unless that was done. At the first look, it is
// the latest one with calls.
func (r *Reporter) lookAt(ctx context.Context, period alerts.Period, now time.Time) error {
	current, _ := span(period, now.Add(-settling))
	looked := r.looked[period.Name]
	if looked.Equal(current) {
		return nil
	}
	start, _ := span(period, current.Add(-time.Second))
	if looked.IsZero() {
		start = current.Add(-mostMissed)
	}
	latest, err := r.latestDay(ctx, start, current)
	if err == nil && !latest.IsZero() {
		err = r.report(ctx, period, latest.In(now.Location()))
	}
	if err == nil {
		r.looked[period.Name] = current
	}
	return err
}

// latestDay returns the beginning of the latest day with calls of providers; zero without one.
func (r *Reporter) latestDay(ctx context.Context, begin, end time.Time) (latest time.Time, err error) {
	days, err := r.Ledger.Usage(ctx, accounting.UsageQuery{From: begin, To: end, By: []accounting.Dimension{accounting.ByDay}})
	if err != nil {
		return latest, fmt.Errorf("reading the days with calls: %w", err)
	}
	for i := range days {
		if days[i].Calls > 0 {
			latest = days[i].At
		}
	}
	return latest, nil
}

// span returns the period of a kind that contains a time, in the time zone of the time.
func span(kind alerts.Period, moment time.Time) (begin, end time.Time) {
	return (&aigateway.Budget{Calendar: aigateway.Calendar(kind.Unit)}).Period(moment)
}

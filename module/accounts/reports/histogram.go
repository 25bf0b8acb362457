package reports

import (
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// histogram is the answer with the exchanges of a range, in intervals of the same length.
type histogram struct {
	From    string `json:"from"` // the beginning of the first interval
	To      string `json:"to"`   // the end of the last one
	Step    int64  `json:"step_seconds"`
	Scanned string `json:"scanned_since"` // empty if all records were counted
	Items   []bar  `json:"items"`
}

// bar has the exchanges that were admitted in an interval.
type bar struct {
	From     string `json:"from"`
	Answered int64  `json:"answered"`
	Refused  int64  `json:"refused"`
	Failed   int64  `json:"failed"`
	Other    int64  `json:"other"`             // the client has left, or the record was imported
	Median   int64  `json:"first_byte_p50_ms"` // 0: there was no answer
	Slow     int64  `json:"first_byte_p95_ms"`
}

const (
	usualBars = 60
	mostBars  = 240
	// usualHistogram is the time of a histogram without a start.
	usualHistogram = 24 * time.Hour
	// longestHistogram is far below the longest time.Duration.
	longestHistogram = 10 * 366 * 24 * time.Hour
)

// steps are the lengths of intervals.
var steps = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
}

// stepOf returns the shortest step, or number of days, that divides a range into at most so many
// intervals.
func stepOf(length time.Duration, bars int) time.Duration {
	least := length / time.Duration(bars)
	if i := slices.IndexFunc(steps, func(step time.Duration) bool { return step >= least }); i >= 0 {
		return steps[i]
	}
	const day = 24 * time.Hour
	return (least + day - 1).Truncate(day)
}

// Histogram answers GET /api/v1/records/histogram, with the records that the user may see.
func (r Reports) Histogram(c *call.Call) (any, error) {
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	query, err := recordQuery(c, zone)
	if err != nil {
		return nil, err
	}
	bars, err := c.QueryNumber(usualBars, "bars")
	if err != nil || bars < 1 || bars > mostBars {
		return nil, answer.Invalid("bars is a number from 1 to %d", mostBars)
	}
	setRange(&query, usualHistogram)
	if length := query.To.Sub(query.From); length <= 0 || length > longestHistogram {
		return nil, answer.Invalid("from must be before to, by ten years at most")
	}
	h := newTally(query.From, query.To, bars)
	start, err := scan(c, reader, query, h.add)
	return h.answer(start, zone), err
}

// tally counts records by intervals.
type tally struct {
	start time.Time
	step  time.Duration
	bars  []bar
	waits [][]time.Duration // times to the first content, by interval
}

func newTally(from, to time.Time, bars int) *tally {
	step := stepOf(to.Sub(from), bars)
	start := from.Truncate(step)
	n := int((to.Sub(start) + step - 1) / step)
	return &tally{start, step, make([]bar, n), make([][]time.Duration, n)}
}

// add counts a record.
func (t *tally) add(r *accounting.Record) {
	i := int(r.Admitted.Sub(t.start) / t.step)
	if i < 0 || i >= len(t.bars) {
		return
	}
	b := &t.bars[i]
	switch r.Outcome {
	case "answered":
		b.Answered++
	case "refused":
		b.Refused++
	case accounting.OutcomeImported, "client_closed":
		b.Other++
	default:
		b.Failed++
	}
	if r.FirstByte > 0 {
		t.waits[i] = append(t.waits[i], r.FirstByte)
	}
}

func (t *tally) answer(start time.Time, zone *time.Location) histogram {
	for i := range t.bars {
		slices.Sort(t.waits[i])
		t.bars[i].From = timeText(t.start.Add(time.Duration(i)*t.step), zone)
		t.bars[i].Median, t.bars[i].Slow = quantile(t.waits[i], 50), quantile(t.waits[i], 95)
	}
	end := t.start.Add(time.Duration(len(t.bars)) * t.step)
	return histogram{timeText(t.start, zone), timeText(end, zone), int64(t.step / time.Second), timeText(start, zone), t.bars}
}

// quantile returns the smallest of some sorted times that is not exceeded by so many percent of
// them, in milliseconds.
func quantile(sorted []time.Duration, percent int) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1].Milliseconds()
}

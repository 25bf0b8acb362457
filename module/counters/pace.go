package counters

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// earlier is the number of slots before the current one that a sliding window counts. A
// period is divided into that many slots.
const earlier = 60

// sliding is the pace of a window that ends now. Use counts for the length of the period,
// and for at most one slot longer. So in no period of that length, wherever it begins, is
// more used than the limit allows, and the time until there is room again is known. A
// bucket that refills, or windows that begin on the minute, do not guarantee that. Setting
// the clock has no effect, because time is measured from created.
type sliding struct {
	created time.Time
	length  time.Duration // of a slot
}

func newSliding(period time.Duration, created time.Time) sliding {
	return sliding{created: created, length: (period + earlier - 1) / earlier}
}

func (sliding) slots() int64 { return earlier + 1 }

// slot returns numbers from 61 on, so that the slots before the first one have positive
// numbers too.
func (s sliding) slot(now time.Time) int64 {
	return int64(now.Sub(s.created)/s.length) + earlier + 1
}

func (s sliding) expiryOf(slot int64) time.Time {
	return s.created.Add(time.Duration(slot) * s.length)
}

// periodic is the pace of a window that begins with a period of the calendar. A slot is
// a period, and its number is the Unix time of its beginning.
type periodic struct {
	budget     *aigateway.Budget
	zone       *time.Location
	begin, end time.Time // of the period of the last slot
}

func (*periodic) slots() int64 { return 1 }

func (p *periodic) slot(now time.Time) int64 {
	if now.Before(p.begin) || !now.Before(p.end) {
		p.begin, p.end = p.budget.Period(now.In(p.zone))
	}
	if p.end.IsZero() {
		return 0
	}
	return p.begin.Unix()
}

func (p *periodic) expiryOf(slot int64) time.Time {
	_, end := p.budget.Period(time.Unix(slot, 0).In(p.zone))
	return end
}

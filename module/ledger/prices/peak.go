package prices

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Peak contains the times of the week at which a price is multiplied. The zero Peak contains
// no time.
type Peak struct {
	Text   string // as in the table: "mon-fri 01:00-04:00,06:00-10:00", in UTC
	Factor int64  // in thousandths

	days  [7]bool // by time.Weekday
	spans [][2]time.Duration
}

var errPeak = errors.New(`a peak is weekdays and times of UTC: "mon-fri 01:00-04:00,06:00-10:00"`)

// covers reports whether a point in time is in a peak time.
func (p Peak) covers(at time.Time) bool {
	at = at.UTC()
	if !p.days[at.Weekday()] {
		return false
	}
	clock := at.Sub(at.Truncate(24 * time.Hour))
	for _, span := range p.spans {
		if clock >= span[0] && clock < span[1] {
			return true
		}
	}
	return false
}

// parsePeak parses a peak. For the empty text, it returns the zero Peak.
func parsePeak(text string, factor int64) (Peak, error) {
	if text == "" {
		return Peak{}, nil
	}
	peak := Peak{Text: text, Factor: factor}
	days, times, _ := strings.Cut(text, " ")
	if !peak.parseDays(days) {
		return Peak{}, errPeak
	}
	for span := range strings.SplitSeq(times, ",") {
		from, to, _ := strings.Cut(span, "-")
		begin, ok := parseTime(from)
		end, ok2 := parseTime(to)
		if !ok || !ok2 || begin >= end {
			return Peak{}, errPeak
		}
		peak.spans = append(peak.spans, [2]time.Duration{begin, end})
	}
	return peak, nil
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // by time.Weekday

func (p *Peak) parseDays(text string) bool {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, to := slices.Index(weekdays, first), slices.Index(weekdays, last)
	if from < 0 || to < 0 {
		return false
	}
	for day := from; ; day = (day + 1) % 7 {
		p.days[day] = true
		if day == to {
			return true
		}
	}
}

func parseTime(text string) (time.Duration, bool) {
	if text == "24:00" {
		return 24 * time.Hour, true
	}
	t, err := time.Parse("15:04", text)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err == nil
}

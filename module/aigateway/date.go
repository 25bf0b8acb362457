package aigateway

import (
	"errors"
	"time"
)

// LatestDate is the last second that RFC 3339 can write in UTC, in Unix seconds.
const LatestDate = 253_402_300_799

var errDate = errors.New("a date is YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC")

// ParseDate reads a moment: an RFC 3339 time, or YYYY-MM-DD for the start of
// that day in UTC. It is after the start of 1970 and in the years up to 9999 of
// UTC, so that it can be written again, and none is the zero time.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil && t.Unix() > 0 && t.Unix() <= LatestDate {
			return t, nil
		}
	}
	return time.Time{}, errDate
}

package aigateway

import (
	"errors"
	"time"
)

// LatestDate is the last second that RFC 3339 can represent in UTC, as Unix time.
const LatestDate = 253_402_300_799

var errDate = errors.New("a date is YYYY-MM-DD or an RFC 3339 time, in the years 1970 to 9999 of UTC")

// ParseDate parses an RFC 3339 time, or a date YYYY-MM-DD, which means the start of
// that day in UTC. Times outside of the years 1970 to 9999 in UTC are errors, as is
// the first second of 1970.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil && t.Unix() > 0 && t.Unix() <= LatestDate {
			return t, nil
		}
	}
	return time.Time{}, errDate
}

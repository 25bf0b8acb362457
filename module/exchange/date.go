package exchange

import (
	"errors"
	"time"
)

var errDate = errors.New("a date is YYYY-MM-DD or an RFC 3339 time")

// ParseDate reads a moment: an RFC 3339 time, or YYYY-MM-DD for the start of
// that day in UTC.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range [...]string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errDate
}

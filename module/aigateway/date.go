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

// DayBegin returns the first moment of a date in a time zone. That is not always 0:00: in
// some zones, clocks are set forward at midnight. A day or month beyond its usual range is
// that of time.Date.
func DayBegin(year int, month time.Month, day int, zone *time.Location) time.Time {
	begin := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if begin.Hour() > 12 { // in the zone of the day before, which ends at midnight
		_, begin = begin.ZoneBounds()
	}
	return begin
}

// ParseDay parses a date YYYY-MM-DD as the first moment of that day in a time zone.
func ParseDay(s string, zone *time.Location) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return time.Time{}, err
	}
	return DayBegin(day.Year(), day.Month(), day.Day(), zone), nil
}

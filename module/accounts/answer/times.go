package answer

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Unix returns a time in Unix seconds, never for the zero time.
func Unix(t time.Time, never int64) int64 {
	if t.IsZero() {
		return never
	}
	return t.Unix()
}

// OptionalTime returns a time in UTC, nil for the zero time.
func OptionalTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(Time(t))
}

// Time returns a time in UTC, with the precision of stores, so that the answer to a change has the
// same time as later ones. It replaces times outside the years that JSON can represent: another
// program may have stored one, and lists must not fail because of it.
func Time(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	switch {
	case t.Year() < 0:
		return time.Time{}
	case t.Year() > 9999:
		return time.Unix(aigateway.LatestDate, 0).UTC()
	}
	return t
}

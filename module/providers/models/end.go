package models

import "time"

// End is the announced end of a model.
type End struct {
	Model     string    // the name in the tables, or else that of the provider
	Day       time.Time // the first day without the model; zero if it is unknown
	Successor string    // the model that takes its place; "" if it is unknown
}

// End returns the announced end of the model.
func (f *Facts) End() (e End) {
	if f == nil {
		return End{}
	}
	return End{Model: f.Names[0], Day: f.end, Successor: f.Value("successor")}
}

// soon is the time before the end of a model in which operators are warned.
const soon = 60 * 24 * time.Hour

// IsSoon reports whether the day is less than 60 days ahead, or has passed.
func (e *End) IsSoon(now time.Time) bool { return !e.Day.IsZero() && e.Day.Sub(now) < soon }

package prices

import "time"

// Newest returns the newest AsOf of the prices, or zero if no price has one.
func (t *Table) Newest() (newest time.Time) {
	for _, list := range t.exact {
		for _, p := range list {
			if date, err := time.Parse(time.DateOnly, p.AsOf); err == nil && date.After(newest) {
				newest = date
			}
		}
	}
	return newest
}

package events

import (
	"slices"
	"sync"
	"time"
)

// mostPast bounds the events of a name that are kept.
const mostPast = 50

// Event is an event that was emitted.
type Event struct {
	Name string
	Time time.Time
	Data map[string]any
}

// latest are the latest events of each name, the oldest first.
var latest struct {
	mu   sync.Mutex // guards all below
	list map[string][]Event
}

// keep adds an event to the past. Events that every request may cause are not kept, nor are
// reports, which need nobody.
func keep(name string, data map[string]any) {
	if name == Fallback || name == SpendReport {
		return
	}
	latest.mu.Lock()
	defer latest.mu.Unlock()
	if latest.list == nil {
		latest.list = make(map[string][]Event)
	}
	list := append(latest.list[name], Event{name, time.Now(), data})
	latest.list[name] = slices.Clone(list[max(0, len(list)-mostPast):])
}

// Past returns the latest events of the process, at most 50 of a name, the oldest first.
func Past() (all []Event) {
	latest.mu.Lock()
	defer latest.mu.Unlock()
	for _, list := range latest.list {
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return all
}

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

// past are the latest events of each name, the oldest first.
var past struct {
	mu   sync.Mutex // guards all below
	list map[string][]Event
}

// keep adds an event to the past. Events that every request may cause are not kept, nor are
// reports, which need nobody.
func keep(name string, data map[string]any) {
	if name == Fallback || name == SpendReport {
		return
	}
	past.mu.Lock()
	defer past.mu.Unlock()
	if past.list == nil {
		past.list = make(map[string][]Event)
	}
	list := append(past.list[name], Event{name, time.Now(), data})
	past.list[name] = slices.Clone(list[max(0, len(list)-mostPast):])
}

// Past returns the latest events of the process, at most 50 of a name, the oldest first.
func Past() (all []Event) {
	past.mu.Lock()
	defer past.mu.Unlock()
	for _, list := range past.list {
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return all
}

package metrics

import (
	"slices"
	"sync"
)

// watched is a list of functions that return a state. Every scrape calls them. The zero
// value is an empty list. Its methods may be called concurrently.
type watched[T any] struct {
	mu   sync.Mutex // guards list
	list []*func() T
}

// add adds a function; stop removes it.
func (w *watched[T]) add(state func() T) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, &state)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(slices.Clone(w.list), func(other *func() T) bool { return other == &state })
	}
}

// states calls all functions.
func (w *watched[T]) states() (all []T) {
	w.mu.Lock()
	list := w.list
	w.mu.Unlock()
	for _, state := range list {
		all = append(all, (*state)())
	}
	return all
}

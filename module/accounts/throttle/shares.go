package throttle

import "sync"

// Shares bounds the number of units of a common resource that one holder may have at the
// same time, so that no holder can have all of them.
type Shares struct {
	limit int

	mu    sync.Mutex     // guards taken
	taken map[string]int // units by holder; no entry for none
}

// NewShares returns Shares of which each holder may have at most limit units.
func NewShares(limit int) *Shares { return &Shares{limit: limit, taken: make(map[string]int)} }

// Acquire takes one unit for a holder, and reports whether the holder may have it. Release
// returns the unit. The holder "" has no bound.
func (s *Shares) Acquire(who string) bool {
	if who == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[who] >= s.limit {
		return false
	}
	s.taken[who]++
	return true
}

// Release returns a unit that Acquire has taken for the holder.
func (s *Shares) Release(who string) {
	if who == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[who]--; s.taken[who] == 0 {
		delete(s.taken, who)
	}
}

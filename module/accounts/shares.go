package accounts

import "sync"

// shares bounds the number of units of a common resource that one holder may have at the
// same time, so that no holder can have all of them.
type shares struct {
	limit int

	mu    sync.Mutex     // guards taken
	taken map[string]int // units by holder; no entry for none
}

func newShares(limit int) *shares { return &shares{limit: limit, taken: make(map[string]int)} }

// acquire takes one unit for a holder, and reports whether the holder may have it. release
// returns the unit. The holder "" has no bound.
func (s *shares) acquire(who string) bool {
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

func (s *shares) release(who string) {
	if who == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[who]--; s.taken[who] == 0 {
		delete(s.taken, who)
	}
}

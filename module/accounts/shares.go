package accounts

import "sync"

// shares bounds how much of what everybody uses anyone may have at once, so that
// no one can have all of it.
type shares struct {
	most int

	mu    sync.Mutex     // guards taken
	taken map[string]int // by who has it; nobody who has none
}

func newShares(most int) *shares { return &shares{most: most, taken: make(map[string]int)} }

// take reports whether who may have one more, which give takes back. Nobody, "",
// has as many as they like.
func (s *shares) take(who string) bool {
	if who == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[who] >= s.most {
		return false
	}
	s.taken[who]++
	return true
}

func (s *shares) give(who string) {
	if who == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[who]--; s.taken[who] == 0 {
		delete(s.taken, who)
	}
}

package clientsecret

import (
	"maps"
	"sync"
	"time"
)

// used counts the WebSockets that secrets with a number of uses have opened, by their ids.
var used = struct {
	mu     sync.Mutex
	counts map[string]*useOf
}{counts: make(map[string]*useOf)}

type useOf struct {
	opened  int
	expires int64
}

// Use counts a WebSocket that the secret opens. It reports false if the secret has expired, or was used as often as it
// may be: then it opens no more WebSockets, and open ones stay open. A nil secret has no end.
func (s *Secret) Use(now time.Time) bool { return s == nil || now.Unix() < s.Expires && !s.spend(now) }

// spend counts a WebSocket. It reports whether the secret was used as often as it may be.
func (s *Secret) spend(now time.Time) (spent bool) {
	if s.Uses == 0 {
		return false
	}
	used.mu.Lock()
	defer used.mu.Unlock()
	maps.DeleteFunc(used.counts, func(_ string, u *useOf) bool { return u.expires < now.Unix() })
	u := used.counts[s.ID]
	if u == nil {
		u = &useOf{expires: s.Expires}
		used.counts[s.ID] = u
	}
	if u.opened >= s.Uses {
		return true
	}
	u.opened++
	return false
}

package meter

import (
	"sync"
	"time"
)

// AskAgainAfter is how long a provider that does not count the tokens of a model is
// not asked again.
const AskAgainAfter = time.Hour

// maxUncounted bounds the models that are remembered: clients may name any model of
// a provider that takes any name.
const maxUncounted = 1024

// Uncounted remembers the models whose tokens a provider does not count. The zero
// value is empty; its methods may be called at once.
type Uncounted struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

// Has reports whether the provider need not be asked to count for a model.
func (u *Uncounted) Has(model string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return time.Now().Before(u.until[model])
}

// Add remembers a model. Without room for it, it forgets any other.
func (u *Uncounted) Add(model string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = make(map[string]time.Time)
	}
	for other := range u.until {
		if len(u.until) < maxUncounted {
			break
		}
		delete(u.until, other)
	}
	u.until[model] = time.Now().Add(AskAgainAfter)
}

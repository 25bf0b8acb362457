package health

import (
	"sync"
	"time"
)

// AskAgainAfter is the time after which a provider that does not count the tokens of a
// model is asked again.
const AskAgainAfter = time.Hour

// maxUncounted is the largest number of models in Uncounted. Clients may use any number
// of model names of some providers.
const maxUncounted = 1024

// Uncounted is the set of models whose tokens a provider does not count. The zero value
// is an empty set. Its methods may be called concurrently.
type Uncounted struct {
	mu    sync.Mutex // guards until
	until map[string]time.Time
}

// Has reports whether the provider has recently refused to count tokens for a model.
func (u *Uncounted) Has(model string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return time.Now().Before(u.until[model])
}

// Add adds a model for AskAgainAfter. If the set is full, any other model is removed.
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

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
	mu   sync.Mutex // guards ends
	ends map[string]time.Time
}

// Has reports whether the provider has recently refused to count tokens for a model.
func (u *Uncounted) Has(model string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return time.Now().Before(u.ends[model])
}

// Add adds a model for AskAgainAfter. If the set is full, any other model is removed.
func (u *Uncounted) Add(model string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ends == nil {
		u.ends = make(map[string]time.Time)
	}
	for other := range u.ends {
		if len(u.ends) < maxUncounted {
			break
		}
		delete(u.ends, other)
	}
	u.ends[model] = time.Now().Add(AskAgainAfter)
}

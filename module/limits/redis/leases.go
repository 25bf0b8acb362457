package redis

import (
	"sync"
	"time"
)

const (
	// lease is how long a running request counts without being renewed; renewEvery is how
	// often it is.
	lease      = 3 * time.Minute
	renewEvery = time.Minute
)

// leases renews the leases of running requests.
type leases struct {
	backlog *backlog

	mu      sync.Mutex // guards all below
	running map[*reservation]struct{}
	timer   *time.Timer // runs while running has elements
}

// track renews the lease of a reservation from now on.
func (l *leases) track(r *reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running[r] = struct{}{}
	switch {
	case len(l.running) > 1:
	case l.timer == nil:
		l.timer = time.AfterFunc(renewEvery, l.renew)
	default:
		l.timer.Reset(renewEvery)
	}
}

// untrack ends that.
func (l *leases) untrack(r *reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, r)
	if len(l.running) == 0 {
		l.timer.Stop()
	}
}

// renew adds a renewal for each running request to the backlog, where the end of a request
// comes behind its renewals.
func (l *leases) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.running {
		l.backlog.add(renewal{r})
	}
	if len(l.running) > 0 {
		l.timer.Reset(renewEvery)
	}
}

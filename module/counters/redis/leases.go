package redis

import (
	"sync"
	"time"
)

const (
	// lease is the time for which a running request counts after its last renewal.
	lease = 3 * time.Minute
	// renewEvery is the time between two renewals.
	renewEvery = time.Minute
)

// leases renews the leases of running requests.
type leases struct {
	backlog *backlog

	mu      sync.Mutex // guards the fields below
	running map[*reservation]struct{}
	timer   *time.Timer // is active while running is not empty
}

// track renews the lease of a reservation until untrack.
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

// untrack ends the renewals of a reservation.
func (l *leases) untrack(r *reservation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, r)
	if len(l.running) == 0 {
		l.timer.Stop()
	}
}

// renew adds a renewal for each running request to the backlog. The backlog sends changes
// in order, so the removal of a request follows its renewals.
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

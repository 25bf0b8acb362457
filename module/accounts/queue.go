package accounts

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// queue bounds the number of concurrent hashes of passwords, because each hash occupies a
// processor and megabytes of memory. No principal can occupy all places.
type queue struct {
	places   chan struct{} // occupied while waiting or hashing
	slots    chan struct{} // occupied while hashing
	accounts *shares       // places by account
	networks *shares       // places by network
	unknown  *shares       // places of all strangers together
}

const (
	maxWaiting = 16 // places beyond the slots
	perAccount = 2  // places of one account; for a login, of one name in one network
	perNetwork = 8  // places of one network
	reserved   = 6  // places that strangers cannot occupy
)

// processQueue is the queue of this process.
var processQueue = newQueue(runtime.GOMAXPROCS(0))

func newQueue(slots int) *queue {
	return &queue{
		make(chan struct{}, slots+maxWaiting), make(chan struct{}, slots),
		newShares(perAccount), newShares(perNetwork), newShares(slots + maxWaiting - reserved),
	}
}

// principal identifies the origin of a request for the bounds of the queue. The
// zero value is the local administrator, who has no bounds.
type principal struct {
	account, network string
	stranger         bool // neither logged in nor in a known network
}

// bucket returns the holder of the places of all strangers, "" for other principals.
func (who principal) bucket() string {
	if who.stranger {
		return "strangers"
	}
	return ""
}

// principal returns the origin of the call, with the account if a user is logged in.
func (c *call) principal() principal {
	if c.access == localAdmin {
		return principal{}
	}
	who := principal{network: network(c.address()), stranger: c.user == nil}
	if c.user != nil {
		who.account = strconv.FormatInt(c.user.ID, 10)
	}
	return who
}

var errBusy = later(http.StatusTooManyRequests, time.Second, "too many logins at once")

// do runs f when a slot is free. It returns errBusy if all places, or all places of the
// principal, are occupied. It returns the error of the context if the context ends first.
func (q *queue) do(ctx context.Context, who principal, f func()) error {
	if !q.accounts.acquire(who.account) {
		return errBusy
	}
	defer q.accounts.release(who.account)
	if !q.networks.acquire(who.network) {
		return errBusy
	}
	defer q.networks.release(who.network)
	if !q.unknown.acquire(who.bucket()) {
		return errBusy
	}
	defer q.unknown.release(who.bucket())
	return q.wait(ctx, f)
}

func (q *queue) wait(ctx context.Context, f func()) error {
	select {
	case q.places <- struct{}{}:
		defer func() { <-q.places }()
	default:
		return errBusy
	}
	select {
	case q.slots <- struct{}{}:
		defer func() { <-q.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	f()
	return nil
}

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

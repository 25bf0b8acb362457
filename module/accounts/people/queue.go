package people

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
)

// Queue bounds the number of concurrent hashes of passwords, because each hash occupies a
// processor and megabytes of memory. No principal can occupy all places.
type Queue struct {
	Places    chan struct{}    // occupied while waiting or hashing
	Slots     chan struct{}    // occupied while hashing
	Accounts  *throttle.Shares // places by account
	Networks  *throttle.Shares // places by network
	Strangers *throttle.Shares // places of all strangers together
}

const (
	maxWaiting = 16 // places beyond the slots
	perAccount = 2  // places of one account; for a login, of one name in one network
	perNetwork = 8  // places of one network
	reserved   = 6  // places that strangers cannot occupy
)

// processQueue is the queue of this process.
var processQueue = NewQueue(runtime.GOMAXPROCS(0))

// NewQueue returns a queue with so many slots.
func NewQueue(slots int) *Queue {
	return &Queue{
		make(chan struct{}, slots+maxWaiting), make(chan struct{}, slots),
		throttle.NewShares(perAccount), throttle.NewShares(perNetwork), throttle.NewShares(slots + maxWaiting - reserved),
	}
}

var errBusy = answer.Later(http.StatusTooManyRequests, time.Second, "too many logins at once")

// do runs f when a slot is free. It returns errBusy if all places, or all places of the
// principal, are occupied. It returns the error of the context if the context ends first.
func (q *Queue) do(ctx context.Context, who call.Principal, f func()) error {
	if !q.Accounts.Acquire(who.Account) {
		return errBusy
	}
	defer q.Accounts.Release(who.Account)
	if !q.Networks.Acquire(who.Network) {
		return errBusy
	}
	defer q.Networks.Release(who.Network)
	if !q.Strangers.Acquire(bucket(who)) {
		return errBusy
	}
	defer q.Strangers.Release(bucket(who))
	return q.wait(ctx, f)
}

func (q *Queue) wait(ctx context.Context, f func()) error {
	select {
	case q.Places <- struct{}{}:
		defer func() { <-q.Places }()
	default:
		return errBusy
	}
	select {
	case q.Slots <- struct{}{}:
		defer func() { <-q.Slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	f()
	return nil
}

// bucket returns the holder of the places of all strangers, "" for other principals.
func bucket(who call.Principal) string {
	if who.Stranger {
		return "strangers"
	}
	return ""
}

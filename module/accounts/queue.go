package accounts

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/throttle"
)

// queue bounds the number of concurrent hashes of passwords, because each hash occupies a
// processor and megabytes of memory. No principal can occupy all places.
type queue struct {
	places   chan struct{}    // occupied while waiting or hashing
	slots    chan struct{}    // occupied while hashing
	accounts *throttle.Shares // places by account
	networks *throttle.Shares // places by network
	unknown  *throttle.Shares // places of all strangers together
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
		throttle.NewShares(perAccount), throttle.NewShares(perNetwork), throttle.NewShares(slots + maxWaiting - reserved),
	}
}

var errBusy = answer.Later(http.StatusTooManyRequests, time.Second, "too many logins at once")

// do runs f when a slot is free. It returns errBusy if all places, or all places of the
// principal, are occupied. It returns the error of the context if the context ends first.
func (q *queue) do(ctx context.Context, who call.Principal, f func()) error {
	if !q.accounts.Acquire(who.Account) {
		return errBusy
	}
	defer q.accounts.Release(who.Account)
	if !q.networks.Acquire(who.Network) {
		return errBusy
	}
	defer q.networks.Release(who.Network)
	if !q.unknown.Acquire(bucket(who)) {
		return errBusy
	}
	defer q.unknown.Release(bucket(who))
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

// bucket returns the holder of the places of all strangers, "" for other principals.
func bucket(who call.Principal) string {
	if who.Stranger {
		return "strangers"
	}
	return ""
}

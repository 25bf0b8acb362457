package accounts

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"time"
)

// queue bounds how much is hashed at once: each hash takes a processor and
// megabytes of memory for a while. Nobody gets all of it.
type queue struct {
	places   chan struct{} // of those that wait or hash
	slots    chan struct{} // of those that hash
	accounts *shares       // of the places
	networks *shares       // of the places
	unknown  *shares       // of the places, of all strangers together
}

const (
	waiting    = 16 // how many may wait for a slot
	perAccount = 2  // places of one account, of a login: in one network
	perNetwork = 8  // places of one network
	kept       = 6  // places that no stranger gets, from however many networks
)

// hashes is the queue of this process.
var hashes = newQueue(runtime.GOMAXPROCS(0))

func newQueue(slots int) *queue {
	return &queue{
		make(chan struct{}, slots+waiting), make(chan struct{}, slots),
		newShares(perAccount), newShares(perNetwork), newShares(slots + waiting - kept),
	}
}

// asker is who has something hashed, as far as the queue keeps them apart. The
// administrator of the machine is nobody, and has no bounds.
type asker struct {
	account, network string
	stranger         bool // neither logged in nor at home
}

// crowd is what all strangers are together, and nobody for the others.
func (who asker) crowd() string {
	if who.stranger {
		return "strangers"
	}
	return ""
}

// asker returns who asks, with the account of whoever is logged in.
func (c *call) asker() asker {
	if c.access == theMachine {
		return asker{}
	}
	who := asker{network: network(c.address()), stranger: c.user == nil}
	if c.user != nil {
		who.account = strconv.FormatInt(c.user.ID, 10)
	}
	return who
}

var errBusy = later(http.StatusTooManyRequests, time.Second, "too many logins at once")

// do runs f when it is its turn. It returns errBusy when too many wait, of all
// or of those who ask here, and the context's error when that ends first.
func (q *queue) do(ctx context.Context, who asker, f func()) error {
	if !q.accounts.take(who.account) {
		return errBusy
	}
	defer q.accounts.give(who.account)
	if !q.networks.take(who.network) {
		return errBusy
	}
	defer q.networks.give(who.network)
	if !q.unknown.take(who.crowd()) {
		return errBusy
	}
	defer q.unknown.give(who.crowd())
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

package exchange

import (
	"context"
	"sync"
	"time"
)

// Flights are the running calls of a process whose answers will be kept: equal requests wait for such an
// answer instead of making the same call. The zero value has none. Its methods may be called concurrently.
type Flights struct {
	mu      sync.Mutex // guards running
	running map[CacheKey]*Flight
}

// Flight is a running call whose answer will be kept.
type Flight struct {
	flights *Flights
	key     CacheKey
	stream  bool // the answer will be one of events
	landed  chan struct{}
	answer  *CachedAnswer // set before landed is closed; nil if the answer is not kept
	failed  bool          // set before landed is closed: there is no answer
}

// The longest times for which a request waits for the answer to an equal one. A whole answer arrives at once,
// no later than that of a further call would. A stream ends no earlier than the client of the other request
// reads it, and the client that waits has nothing of it before.
const (
	longestWait       = time.Minute
	longestStreamWait = 5 * time.Second
)

// Join returns the running call that answers equal requests. If there is none, begun is true: the call of the
// request is the one, and it must end with Land or Fail.
func (f *Flights) Join(key CacheKey, stream bool) (flight *Flight, begun bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if running := f.running[key]; running != nil {
		return running, false
	}
	if f.running == nil {
		f.running = make(map[CacheKey]*Flight)
	}
	flight = &Flight{flights: f, key: key, stream: stream, landed: make(chan struct{})}
	f.running[key] = flight
	return flight, true
}

// Land ends the wait of equal requests: with the answer, or with nil for one that is not kept, after which each
// makes a call of its own. Only the first call of Land or Fail counts. A nil flight has nobody who waits.
func (f *Flight) Land(answer *CachedAnswer) { f.end(answer, false) }

// Fail ends a call without an answer. One of the requests that wait begins the next flight, and the others wait
// for that: a provider that refuses calls, or is down, would get all of them at once.
func (f *Flight) Fail() { f.end(nil, true) }

func (f *Flight) end(answer *CachedAnswer, failed bool) {
	if f == nil {
		return
	}
	f.flights.mu.Lock()
	defer f.flights.mu.Unlock()
	if f.flights.running[f.key] == f {
		delete(f.flights.running, f.key)
		f.answer, f.failed = answer, failed
		close(f.landed)
	}
}

// Wait returns the answer when it is known. It returns nil for an answer that is not kept, when ctx ends, for a
// client that wants no stream if the answer is one, and after the longest wait for all flights since begun. failed
// is true if the call has failed: the request may then join the next one.
func (f *Flight) Wait(ctx context.Context, begun time.Time, stream bool) (answer *CachedAnswer, failed bool) {
	longest := longestWait
	switch {
	case f.stream && !stream:
		return nil, false
	case f.stream:
		longest = longestStreamWait
	}
	ctx, cancel := context.WithDeadline(ctx, begun.Add(longest))
	defer cancel()
	select {
	case <-f.landed:
		return f.answer, f.failed
	case <-ctx.Done():
		return nil, false
	}
}

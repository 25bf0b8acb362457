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
	of     *Flights
	key    CacheKey
	stream bool // the answer will be one of events
	landed chan struct{}
	answer *CachedAnswer // set before landed is closed; nil if the answer is not kept
}

// The longest times for which a request waits for the answer to an equal one. A whole answer arrives at once,
// no later than that of a further call would. A stream ends no earlier than the client of the other request
// reads it, and the client that waits has nothing of it before.
const (
	longestWait       = time.Minute
	longestStreamWait = 5 * time.Second
)

// Join returns the running call that answers equal requests. If there is none, begun is true: the call
// of the request is that one, and it must land.
func (f *Flights) Join(key CacheKey, stream bool) (flight *Flight, begun bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if running := f.running[key]; running != nil {
		return running, false
	}
	if f.running == nil {
		f.running = make(map[CacheKey]*Flight)
	}
	flight = &Flight{of: f, key: key, stream: stream, landed: make(chan struct{})}
	f.running[key] = flight
	return flight, true
}

// Land ends the wait of equal requests: with the answer, or with nil for one that is not kept. Only the
// first call counts. A nil flight has nobody who waits.
func (f *Flight) Land(answer *CachedAnswer) {
	if f == nil {
		return
	}
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.of.running[f.key] == f {
		delete(f.of.running, f.key)
		f.answer = answer
		close(f.landed)
	}
}

// Wait returns the answer when it is known. It returns nil for an answer that is not kept, after the longest
// wait, when ctx ends, and for a client that wants no stream if the answer is one.
func (f *Flight) Wait(ctx context.Context, stream bool) *CachedAnswer {
	longest := longestWait
	switch {
	case f.stream && !stream:
		return nil
	case f.stream:
		longest = longestStreamWait
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	select {
	case <-f.landed:
		return f.answer
	case <-ctx.Done():
		return nil
	}
}

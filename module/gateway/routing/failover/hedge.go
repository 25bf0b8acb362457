package failover

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/queue"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
)

// race is the first call of an exchange, and a rival that is called as well if the first has no content after
// the time of the model. What has content first answers, and the other call is cancelled.
//
// The goroutine of the exchange makes the first call. That of the rival changes nothing of the exchange
// before the rival has won, and the exchange is passed on to it.
type race struct {
	run    *run
	first  *exchange.Conduit
	rival  rival
	start  *time.Timer        // of the rival; nil before the first call
	cancel context.CancelFunc // ends the first call
	leave  func()             // ends the first call for the queue of its provider

	mu     sync.Mutex        // guards winner
	winner *exchange.Conduit // nil while no call has content

	won, passed chan struct{} // closed when the rival has won, and when the exchange is passed on to it
	stopped     bool          // the rival has ended, or never begins
}

// rival is the second call of a race.
type rival struct {
	placed
	ctx      context.Context
	cancel   context.CancelFunc
	asked    bool // the call was made; known when done is closed, or the rival has won
	panicked any
	done     chan struct{} // closed at the end of its goroutine
}

// newRace returns the race of a first call. It returns nil if the model or the request excludes it, guards
// check the answer, the client may get events before an answer, which only one call can continue, or no other
// target that does not rest can take the request.
func newRace(x *run, t *selection.Candidate, c *exchange.Conduit, leave func()) *race {
	if x.model.Hedge == nil || x.checks != nil || x.ex.Opening.Early() || len(x.asked) > 0 || x.model.Attempts < 2 || !t.MayRace() || !x.model.Hedges(x.ex) {
		return nil
	}
	for i := range x.candidates {
		other := &x.candidates[i]
		if other.SameTarget(t) || !other.MayRace() || rests(other) {
			continue
		}
		second, unfit := x.attempt(other, false)
		if unfit != nil {
			continue
		}
		if c.Attempt.SealsObjects() || second.Attempt.SealsObjects() { // the provider would store the answer
			return nil
		}
		second.Attempt.Choice = exchange.Hedged
		x.model.Hedge.Share.Deposit()
		r := &race{run: x, first: c, leave: leave, won: make(chan struct{}), passed: make(chan struct{})}
		r.rival.target, r.rival.call, r.rival.done = new(*other), second, make(chan struct{})
		r.rival.ctx, r.rival.cancel = context.WithCancel(x.ctx)
		return r
	}
	return nil
}

// rests reports whether a candidate rests. Only its probe calls such a target, and a rival is none.
func rests(c *selection.Candidate) bool { return !health.Process.RestsUntil(c.Health).IsZero() }

// receive makes the first call, and starts the rival after the time of the model.
func (r *race) receive(ctx context.Context, t *selection.Candidate) error {
	ctx, r.cancel = context.WithCancel(ctx)
	defer r.cancel()
	r.start = time.AfterFunc(time.Duration(r.run.model.Hedge.Hedge), r.startRival)
	return r.makeCall(ctx, t, r.first)
}

// makeCall makes a call of the race.
func (r *race) makeCall(ctx context.Context, t *selection.Candidate, c *exchange.Conduit) error {
	err := t.Provider.Caller.Call(ctx, c, &gate{Receiver: r.run.reply, race: r, call: c}, r.run.client)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Result.Reading.Lost = r.winner != nil && r.winner != c && c.Result.Fault == nil && !c.Result.Whole()
	return err
}

// startRival makes the call of the rival.
func (r *race) startRival() {
	v := &r.rival
	defer close(v.done)
	defer func() { v.panicked = recover() }()
	p, leave := v.target.Provider, func() {}
	if p.Calls.Queue != nil {
		if leave = queue.Process.TryEnter(p.QueueName(), p.Calls.MaxRunning, r.run.site.Queued(r.run.ex)); leave == nil {
			return
		}
	}
	defer leave()
	share := &r.run.model.Hedge.Share
	switch {
	case rests(v.target): // since the first call
		return
	case !share.Withdraw():
		metrics.Hedge(r.run.ex.Covering, "withheld")
		return
	}
	v.call.Started = time.Since(r.run.ex.Start)
	if v.placed, v.asked = place(r.run, v.target, v.call); !v.asked {
		share.Return()
		return
	}
	metrics.Hedge(r.run.ex.Covering, "called")
	ctx, span := tracing.StartCall(v.ctx, &v.call.Attempt)
	defer span.End(v.call)
	explain(r.run, v.call, r.makeCall(ctx, v.target, v.call))
}

// wins reports whether a call has content first. If it has, the other call has ended, and the exchange is
// that of the call.
func (r *race) wins(call *exchange.Conduit) bool {
	r.mu.Lock()
	if r.winner == nil {
		r.winner = call
	}
	won := r.winner == call
	r.mu.Unlock()
	switch {
	case !won:
		return false
	case call == r.first:
		r.stop()
		return true
	}
	close(r.won)
	r.cancel()
	select {
	case <-r.passed:
		return true
	case <-r.rival.ctx.Done():
		return false
	}
}

// stop ends the rival, and counts its call. Further calls have no effect.
func (r *race) stop() {
	r.rival.cancel()
	if r.stopped || r.start == nil {
		return
	}
	r.stopped = true
	if r.start.Stop() {
		return
	}
	r.join()
	if r.rival.asked {
		r.run.reply.Lost(r.rival.call)
		r.rival.learn(r.run)
	}
}

// join waits for the end of the rival. A panic of it becomes one of the exchange.
func (r *race) join() {
	<-r.rival.done
	if v := r.rival.panicked; v != nil {
		r.rival.panicked = nil
		panic(v)
	}
}

// passesOn reports whether the exchange is passed on to the rival: the first call has failed or lost, and the
// rival has content, or has failed, too.
func (r *race) passesOn() bool {
	r.mu.Lock()
	isOver := r.winner == r.first
	r.mu.Unlock()
	if isOver || r.start == nil || r.run.ctx.Err() != nil {
		return false
	}
	if r.start.Stop() {
		r.stopped = true
		return false
	}
	select {
	case <-r.won:
	case <-r.rival.done:
		r.join()
	}
	r.stopped = true
	return r.rival.asked
}

// passOn passes the exchange on to the rival, and waits for its end.
func (r *race) passOn(first *selection.Candidate) (*selection.Candidate, *exchange.Conduit) {
	v := &r.rival
	r.run.candidates = slices.DeleteFunc(r.run.candidates, func(c selection.Candidate) bool { return c.SameTarget(v.target) })
	r.leave()
	if r.first.Result.Fault != nil {
		r.run.fail(first, r.first)
	}
	r.run.targets++
	r.run.reply.Next(v.call, r.run.targets)
	close(r.passed)
	r.join()
	v.end(r.run)
	return v.target, v.call
}

// gate lets only the call that wins a race send its answer.
type gate struct {
	exchange.Receiver
	race   *race
	call   *exchange.Conduit
	header http.Header // before the call has won
	open   bool
}

// Header implements exchange.Receiver.
func (g *gate) Header() http.Header {
	if g.open {
		return g.Receiver.Header()
	}
	if g.header == nil {
		g.header = make(http.Header)
	}
	return g.header
}

// TakeHeader implements exchange.Receiver.
func (g *gate) TakeHeader(h http.Header) { g.header = h }

// WriteHeader implements exchange.Receiver. The transport calls it when the answer has content.
func (g *gate) WriteHeader(status int) {
	if status == http.StatusOK && g.race.wins(g.call) {
		g.Receiver.TakeHeader(g.Header())
		g.open = true
		g.Receiver.WriteHeader(status)
	}
}

// Write implements exchange.Receiver.
func (g *gate) Write(p []byte) (int, error) {
	if !g.open {
		return len(p), nil
	}
	return g.Receiver.Write(p)
}

// FlushError implements exchange.Receiver.
func (g *gate) FlushError() error {
	if !g.open {
		return nil
	}
	return g.Receiver.FlushError()
}

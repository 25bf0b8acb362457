// Package drain gives running exchanges time to end when the process shuts down.
//
// Every client gets a whole answer or an error before the process exits, and the process
// never waits longer than Caddy's grace period. The calls of an exchange also end with its
// deadline, whether the process shuts down or not.
package drain

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// farewell is the time before the end of the grace period at which running calls are
// cancelled, so that their clients still get an error. It is at most half of the grace
// period.
const farewell = 2 * time.Second

// The causes with which the calls of an exchange are cancelled while its client waits.
const (
	ErrShuttingDown = exchange.EndCause("the process is shutting down")
	ErrDeadline     = exchange.EndCause("the deadline of the exchange is over")
)

// Drain counts running exchanges, and ends them at the shutdown of a process. Exchanges
// may end by themselves in the grace period; shortly before its end, the remaining calls
// are cancelled. Its methods may be called concurrently.
type Drain struct {
	begun   atomic.Bool   // the process shuts down
	running atomic.Int64  // exchanges
	idle    chan struct{} // receives when the last running exchange has ended
	ended   lastMinute

	mu       sync.Mutex // guards the fields below
	deadline time.Time  // end of the grace period; zero before it begins, or without one
	timer    *time.Timer

	// calls are the contexts of the calls of running exchanges, with what ends each; nil when
	// they are cancelled. A context that ends them would cost each exchange several allocations.
	calls map[context.Context]context.CancelCauseFunc
}

// Process is the drain of this process. It counts the exchanges of all configurations,
// those of replaced ones included.
var Process = New()

func init() { caddy.OnExit(Process.Wait) }

// New returns a Drain that has not begun.
func New() *Drain {
	return &Drain{idle: make(chan struct{}, 1), calls: make(map[context.Context]context.CancelCauseFunc)}
}

// Begin starts the shutdown with its grace period. With 0 or less, no period ends. Later
// calls have no effect.
func (d *Drain) Begin(grace time.Duration) {
	d.begun.Store(true)
	d.mu.Lock()
	defer d.mu.Unlock()
	if grace <= 0 || d.timer != nil {
		return
	}
	d.deadline = time.Now().Add(grace)
	d.timer = time.AfterFunc(grace-min(farewell, grace/2), d.cancel)
}

// Begun reports whether the shutdown has begun.
func (d *Drain) Begun() bool { return d.begun.Load() }

// Enter counts an exchange as running, until Leave.
func (d *Drain) Enter() { d.running.Add(1) }

// Running returns the number of exchanges that run.
func (d *Drain) Running() int { return int(d.running.Load()) }

// Ended returns the number of exchanges that ended within the last minute.
func (d *Drain) Ended() int { return d.ended.count(time.Now().Unix()) }

// Leave counts an exchange as ended.
func (d *Drain) Leave() {
	d.ended.add(time.Now().Unix())
	if d.running.Add(-1) > 0 {
		return
	}
	select {
	case d.idle <- struct{}{}:
	default: // Wait checks the count itself
	}
}

// Wait returns when no exchange runs, at the latest at the end of the grace period. It
// runs after the apps have stopped, for the exchanges of replaced configurations, because
// the servers do not wait for those. Without a grace period, it cancels their calls at
// once, and waits a short time for their clients to get the error.
func (d *Drain) Wait(context.Context) {
	deadline := d.graceEnd()
	if deadline.IsZero() {
		deadline = time.Now().Add(farewell)
		d.cancel()
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for d.running.Load() > 0 {
		select {
		case <-d.idle:
		case <-timer.C:
			return
		}
	}
}

func (d *Drain) graceEnd() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.deadline
}

// Bind returns a context for the calls of one exchange. It ends with its parent, with
// ErrShuttingDown when d cancels calls, and with ErrDeadline after the deadline; 0 means
// none. The caller must call cancel when the exchange ends.
func (d *Drain) Bind(parent context.Context, deadline time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	bound, end := context.WithCancelCause(parent)
	d.mu.Lock()
	if d.calls == nil {
		end(ErrShuttingDown)
	} else {
		d.calls[bound] = end
	}
	d.mu.Unlock()
	release := func() {
		d.mu.Lock()
		delete(d.calls, bound)
		d.mu.Unlock()
		end(nil)
	}
	if deadline == 0 {
		return bound, release
	}
	ctx, stop := context.WithTimeoutCause(bound, deadline, ErrDeadline)
	return ctx, func() {
		stop()
		release()
	}
}

// cancel cancels all calls, and those that begin later.
func (d *Drain) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, end := range d.calls {
		end(ErrShuttingDown)
	}
	d.calls = nil
}

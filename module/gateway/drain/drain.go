// Package drain lets running exchanges end well when the process shuts down.
package drain

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// farewell is how long before the end of the grace period running calls are
// cancelled, so that their clients still get an error. A grace period shorter
// than twice that is halved.
const farewell = 2 * time.Second

// errShuttingDown is the cause with which a Drain cancels calls.
var errShuttingDown = errors.New("the process is shutting down")

// Drain is the shutdown of a process. Exchanges get the grace period to end by
// themselves; shortly before its end the calls of the others are cancelled. Its
// methods may be called at once.
type Drain struct {
	ctx    context.Context // ends when calls are cancelled
	cancel context.CancelCauseFunc

	running atomic.Int64  // exchanges
	idle    chan struct{} // receives when the last running exchange has ended

	mu       sync.Mutex // guards all below
	deadline time.Time  // end of the grace period; zero before it begins, or without one
	timer    *time.Timer
}

// Process is the drain of this process. It counts the exchanges of all
// configurations, so that those of replaced configurations end well too.
var Process = New()

func init() { caddy.OnExit(Process.Wait) }

// New returns a Drain that has not begun.
func New() *Drain {
	d := &Drain{idle: make(chan struct{}, 1)}
	d.ctx, d.cancel = context.WithCancelCause(context.Background())
	return d
}

// Begin starts the grace period; 0 for no limit. Only the first call
// counts.
func (d *Drain) Begin(grace time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if grace <= 0 || d.timer != nil {
		return
	}
	d.deadline = time.Now().Add(grace)
	d.timer = time.AfterFunc(grace-min(farewell, grace/2), func() { d.cancel(errShuttingDown) })
}

// Enter counts an exchange as running, until Leave.
func (d *Drain) Enter() { d.running.Add(1) }

// Running returns the number of exchanges that run.
func (d *Drain) Running() int { return int(d.running.Load()) }

// Leave ends what Enter began.
func (d *Drain) Leave() {
	if d.running.Add(-1) > 0 {
		return
	}
	select {
	case d.idle <- struct{}{}:
	default: // Wait checks the count itself
	}
}

// Wait waits until no exchange runs, and until the end of the grace period at
// the latest. It runs after the apps have stopped, for exchanges of replaced
// configurations: the servers do not wait for those. Without a grace period it
// cancels their calls right away.
func (d *Drain) Wait(context.Context) {
	deadline := d.graceEnd()
	if deadline.IsZero() {
		deadline = time.Now().Add(farewell)
		d.cancel(errShuttingDown)
	}
	over := time.NewTimer(time.Until(deadline))
	defer over.Stop()
	for d.running.Load() > 0 {
		select {
		case <-d.idle:
		case <-over.C:
			return
		}
	}
}

func (d *Drain) graceEnd() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.deadline
}

// Bind returns a context for the calls of one exchange. It ends with parent, and
// when d cancels calls. The caller must call cancel when the exchange ends.
func (d *Drain) Bind(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	unbind := context.AfterFunc(d.ctx, func() { end(errShuttingDown) })
	return ctx, func() {
		unbind()
		end(nil)
	}
}

// Interrupted reports whether a Drain has cancelled ctx.
func Interrupted(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errShuttingDown) }

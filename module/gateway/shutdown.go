package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// farewell is how long before the end of the grace period those who still wait
// for an answer are told; of a short period it is the half.
const farewell = 2 * time.Second

// errShuttingDown is the cause with which calls end when the process does.
var errShuttingDown = errors.New("the process is shutting down")

// shutdown is the end of a process. Exchanges get the grace period to end by
// themselves; shortly before it is over the calls of those that did not are
// cancelled, so that their clients can be told.
type shutdown struct {
	ctx context.Context // over once that has happened
	end context.CancelCauseFunc

	running atomic.Int64  // exchanges
	idle    chan struct{} // told whenever the last of them has ended

	mu    sync.Mutex // guards both
	until time.Time  // when the grace period is over; zero while it has not begun, or has no end
	timer *time.Timer
}

// exit is the end of this process. It knows the exchanges of all
// configurations: those that a reload has left behind are to end well, too.
var exit = newShutdown()

func init() { caddy.OnExit(exit.wait) }

func newShutdown() *shutdown {
	x := &shutdown{idle: make(chan struct{}, 1)}
	x.ctx, x.end = context.WithCancelCause(context.Background())
	return x
}

// begin says that the process ends after grace; 0 stands for no limit.
func (x *shutdown) begin(grace time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if grace <= 0 || x.timer != nil {
		return
	}
	x.until = time.Now().Add(grace)
	x.timer = time.AfterFunc(grace-min(farewell, grace/2), func() { x.end(errShuttingDown) })
}

// enter counts an exchange, until leave.
func (x *shutdown) enter() { x.running.Add(1) }

func (x *shutdown) leave() {
	if x.running.Add(-1) > 0 {
		return
	}
	select {
	case x.idle <- struct{}{}:
	default: // whoever waits looks anyway
	}
}

// wait waits for the exchanges that the servers no longer wait for, because a
// reload has ended their configuration long ago. It runs when the apps have
// stopped. Where there is no grace period to be over, those whose own is over
// since are told now.
func (x *shutdown) wait(context.Context) {
	until := x.deadline()
	if until.IsZero() {
		until = time.Now().Add(farewell)
		x.end(errShuttingDown)
	}
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	for x.running.Load() > 0 {
		select {
		case <-x.idle:
		case <-over.C:
			return
		}
	}
}

func (x *shutdown) deadline() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.until
}

// bind returns a context for the calls of one exchange, which ends with parent
// and with the process. The exchange must call cancel in the end.
func (x *shutdown) bind(parent context.Context) (ctx context.Context, cancel context.CancelFunc) {
	ctx, end := context.WithCancelCause(parent)
	unbind := context.AfterFunc(x.ctx, func() { end(errShuttingDown) })
	return ctx, func() {
		unbind()
		end(nil)
	}
}

// cutShort reports whether the calls of an exchange ended because the process does.
func cutShort(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errShuttingDown) }

// watchExit has a learn when Caddy stops. Apps are stopped in no certain order,
// and the one that holds the servers waits for its requests then: only the
// event comes before that.
func (a *App) watchExit(ctx caddy.Context) error {
	events, err := ctx.App("events")
	if err != nil {
		return fmt.Errorf("loading events app: %w", err)
	}
	return events.(*caddyevents.App).On("stopping", &stopping{ctx})
}

// stopping handles the event with which a configuration ends: by a reload,
// which breaks no stream, or by the end of the process.
type stopping struct{ ctx caddy.Context }

// Handle begins the shutdown if the process ends.
func (s *stopping) Handle(context.Context, caddy.Event) error {
	if caddy.Exiting() {
		exit.begin(gracePeriod(s.ctx))
	}
	return nil
}

// gracePeriod is how long the servers give running requests, from now on; 0
// stands for no limit.
func gracePeriod(ctx caddy.Context) time.Duration {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return 0
	}
	servers := app.(*caddyhttp.App)
	if servers.GracePeriod <= 0 {
		return 0
	}
	return time.Duration(servers.ShutdownDelay) + time.Duration(servers.GracePeriod)
}

var _ caddyevents.Handler = (*stopping)(nil)

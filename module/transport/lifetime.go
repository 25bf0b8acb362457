package transport

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/connection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/transport/watch"
)

// linger is the longest time for which an answer is read after its client has left. It is
// no longer than the time that a shutdown leaves to exchanges after it has cancelled their
// calls.
const linger = 2 * time.Second

// lifetime is the time in which a call may run. It is not copied.
type lifetime struct {
	client   context.Context         // ends when the client disconnects
	ctx      context.Context         // ends when the call is cancelled with a cause
	endCtx   context.CancelCauseFunc // cancels ctx, and closes no connection
	unbind   func() bool             // separates the call from client; for a part of a call, its connection from ctx
	conn     connection.Connection   // of the last request
	watch    watch.Watch
	left     atomic.Bool // the client has left, before the end of the call
	turnOver atomic.Bool // the stream has shown what may be the end of the turn, or a JSON answer has begun
}

// begin begins the time of a call for a client.
func (l *lifetime) begin(client context.Context) {
	l.client = client
	l.ctx, l.endCtx = context.WithCancelCause(context.WithoutCancel(client))
	l.unbind = context.AfterFunc(client, l.leave)
}

// beginWithin begins the time of a part of a call, with variables of its own, because it has
// a goroutine of its own.
func (l *lifetime) beginWithin(whole *lifetime) {
	l.client = whole.client
	l.ctx, l.endCtx = context.WithCancelCause(exchange.WithOwnVars(whole.ctx))
	l.unbind = context.AfterFunc(l.ctx, l.conn.Close)
}

// cancel cancels the call, unless it was cancelled before, and ends its request.
func (l *lifetime) cancel(cause error) {
	l.endCtx(cause)
	l.conn.Close()
}

// expire cancels the call if the provider has been silent for too long.
func (l *lifetime) expire() {
	if cause := l.watch.Over(); cause != nil {
		l.cancel(cause)
	}
}

// leave handles the end of the client's context. It cancels the call at once, unless the
// client has left when the turn may be over: the provider charges for the whole turn then,
// and only the rest of the answer has the usage.
func (l *lifetime) leave() {
	cause := context.Cause(l.client) // differs between the versions of HTTP, unless it is of the gateway
	_, ending := cause.(exchange.EndCause)
	l.left.Store(!ending)
	if !ending && l.turnOver.Load() {
		time.AfterFunc(linger, func() { l.cancel(cause) })
		return
	}
	l.cancel(cause)
}

// end stops the timer and cancels the context.
func (l *lifetime) end() {
	l.unbind()
	l.watch.Stop()
	l.cancel(errEnded)
}

var errEnded = errors.New("the call has ended")

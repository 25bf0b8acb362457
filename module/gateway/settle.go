package gateway

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// settle ends an exchange, also after a panic or a disconnect. The outcome is derived
// from the state of the sink, never from the error that reverse_proxy returned.
func (h *handler) settle(ex *exchange.Exchange, answer *reply.Reply, r *http.Request) {
	if v := recover(); v != nil {
		h.recovered(v, ex, answer)
	}
	if r.ProtoMajor == 2 && ex.Request.Streaming() && r.Context().Err() == nil {
		// Caddy bounds what the server writes behind a handler by a timer. If the stream has
		// ended before it is started, it keeps the stream for a minute.
		_ = answer.FlushError()
	}
	aborts := answer.Close(r.Context().Err() != nil)
	ex.Request.DropBody()
	ended := observe.End(ex, answer.Calls())
	ended.Show(r, h.exchanges)
	if aborts {
		abort(r.Context())
	}
}

// timeToRead is the time that clients have to read an error event. Several HTTP libraries drop
// what they have not passed on yet when the connection breaks, and report only that.
const timeToRead = 100 * time.Millisecond

// abort closes the connection of a client, after the time to read what was sent. Nothing signals
// that the client has read it: so abort waits, and holds no more than its goroutine, since the
// exchange is settled. Only formats whose clients take a clean end for the end of the answer
// need it, and files that broke off.
func abort(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(timeToRead):
	}
	panic(http.ErrAbortHandler)
}

// recovered answers after a panic. A JSON answer that has begun can only be aborted; any
// other answer can still end with an error.
func (h *handler) recovered(v any, ex *exchange.Exchange, answer *reply.Reply) {
	if v != any(http.ErrAbortHandler) {
		h.logger.Error("panic", zap.String("request_id", ex.ID), zap.Any("value", v), zap.ByteString("stack", debug.Stack()))
	}
	if answer.HasContent() && !ex.Request.Streaming() {
		answer.Close(false)
		panic(http.ErrAbortHandler)
	}
	answer.Fail(fault.InternalError(fmt.Errorf("panic: %v", v)))
}

package gateway

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/tracing"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// settle ends an exchange, also after a panic or a disconnect. The outcome is derived
// from the state of the sink, never from the error that reverse_proxy returned.
func (h *Handler) settle(ex *exchange.Exchange, to *reply.Reply, r *http.Request) {
	if v := recover(); v != nil {
		h.recovered(v, ex, to)
	}
	if r.ProtoMajor == 2 && ex.Streaming() && r.Context().Err() == nil {
		// Caddy bounds what the server writes behind a handler by a timer. If the stream has
		// ended before it is started, it keeps the stream for a minute.
		_ = to.FlushError()
	}
	aborts := to.Close(r.Context().Err() != nil)
	ex.DropBody()
	h.exchangeEnded(ex, to.Calls(), r)
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

// exchangeEnded shows the outcome and the usage of an exchange in metrics, the trace and
// the log.
func (h *Handler) exchangeEnded(ex *exchange.Exchange, calls []accounting.Call, r *http.Request) {
	observe.Count(ex, calls)
	usd, known := observe.USD(calls)
	tracing.EndExchange(r.Context(), ex, usd, known)
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok && logsAccess(r) {
		extra.Add(zap.Object("ai_gateway", (*observe.AccessRecord)(ex)))
	}
	observe.Log(ex, h.exchanges)
	if ex.Capture != nil {
		ex.Capture.End(observe.Captured(ex))
	}
}

// logsAccess reports whether the server of a request has an access log.
func logsAccess(r *http.Request) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return ok && server.Logs != nil
}

// recovered answers after a panic. A JSON answer that has begun can only be aborted; any
// other answer can still end with an error.
func (h *Handler) recovered(v any, ex *exchange.Exchange, to *reply.Reply) {
	if v != any(http.ErrAbortHandler) {
		h.logger.Error("panic", zap.String("request_id", ex.ID), zap.Any("value", v), zap.ByteString("stack", debug.Stack()))
	}
	if to.HasContent() && !ex.Streaming() {
		to.Close(false)
		panic(http.ErrAbortHandler)
	}
	to.Fail(fault.InternalError(fmt.Errorf("panic: %v", v)))
}

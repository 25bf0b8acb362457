package gateway

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// settle ends every exchange, panics and disconnects included. The outcome comes
// from the state of the sink, never from what reverse_proxy returned.
func (h *Handler) settle(ex *exchange.Exchange, s *sink.Sink, r *http.Request) {
	if v := recover(); v != nil {
		h.recovered(v, ex, s)
	}
	s.Close(r.Context().Err() != nil)
	ex.DropBody()
	countLosses(ex)
	record := (*logRecord)(ex)
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.Object("ai_gateway", record))
	}
	if c := h.logger.Check(zapcore.DebugLevel, "exchange ended"); c != nil {
		c.Write(zap.Inline(record))
	}
}

// recovered answers after a panic. A JSON answer that has begun can only be
// aborted; all others can still end with an error.
func (h *Handler) recovered(v any, ex *exchange.Exchange, s *sink.Sink) {
	if v != http.ErrAbortHandler {
		h.logger.Error("panic", zap.String("request_id", ex.ID), zap.Any("value", v), zap.ByteString("stack", debug.Stack()))
	}
	if s.HasContent() && !ex.Streaming() {
		s.Close(false)
		panic(http.ErrAbortHandler)
	}
	s.Fail(translate.InternalFault(fmt.Errorf("panic: %v", v)))
}

// clip bounds a text of a client or a provider for the log.
func clip(s string) string {
	const most = 256
	if len(s) > most {
		return s[:most]
	}
	return s
}

// logRecord is an exchange as the log shows it: names and numbers, never
// prompts, answers or credentials.
type logRecord exchange.Exchange

// MarshalLogObject writes the record.
func (l *logRecord) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	ex := (*exchange.Exchange)(l)
	enc.AddString("request_id", ex.ID)
	enc.AddString("outcome", string(ex.Outcome))
	for _, key := range placeholders {
		if v := key.value(ex); v != nil && key.logged {
			_ = enc.AddReflected(key.name, v)
		}
	}
	if ex.Unreported {
		enc.AddBool("losses_unreported", true)
	}
	if ex.Fault != nil {
		enc.AddString("fault", ex.Fault.LogMessage())
		if ex.Fault.Trait != "" {
			enc.AddString("fault_trait", ex.Fault.Trait)
		}
	}
	return nil
}

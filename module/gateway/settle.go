package gateway

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// settle ends every exchange, on every way out, panics and disconnects
// included. The outcome comes from what the sink has seen, never from what the
// engine returned.
func (h *Handler) settle(ex *exchange.Exchange, s *sink, r *http.Request) {
	if v := recover(); v != nil {
		h.recovered(v, ex, s)
	}
	s.cancel()
	s.stop()
	h.ratios.learnFrom(ex)
	ex.Lease.Release()
	ex.Outcome = s.outcome(r.Context().Err() != nil)
	countLosses(ex)
	record := (*logRecord)(ex)
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.Object("ai_gateway", record))
	}
	if c := h.logger.Check(zapcore.DebugLevel, "exchange ended"); c != nil {
		c.Write(zap.Inline(record))
	}
}

// recovered answers for a panic. A JSON answer that was cut can only be
// aborted; in all other cases there is still a way to tell the client.
func (h *Handler) recovered(v any, ex *exchange.Exchange, s *sink) {
	if v != http.ErrAbortHandler {
		h.logger.Error("panic", zap.String("request_id", ex.ID), zap.Any("value", v), zap.ByteString("stack", debug.Stack()))
	}
	if s.content && !ex.Streaming() {
		s.stop()
		panic(http.ErrAbortHandler)
	}
	s.fail(translate.InternalFault(fmt.Errorf("panic: %v", v)))
}

// over reports whether the exchange needs no other target.
func (s *sink) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.content || s.gone != nil || s.ex.Attempt.Finished
}

// outcome tells how the exchange ended.
func (s *sink) outcome(clientDone bool) exchange.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.ex.Attempt
	switch {
	case a != nil && a.Finished && s.gone == nil, a == nil && s.ex.Fault == nil:
		return exchange.Answered
	case s.gone != nil, clientDone:
		return exchange.ClientClosed
	case s.content:
		return exchange.Cut
	case s.ex.Attempts == 0:
		return exchange.Refused
	}
	return exchange.Failed
}

// clip bounds what a client or a provider chose before it goes to a log.
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

package gateway

import (
	"net/http"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// noteFailure logs why an attempt failed, and remembers a provider that does not count
// tokens. The level is Warn only for failures that an operator may have to repair.
func (h *Handler) noteFailure(t catalog.Target, a *exchange.Attempt, result *exchange.Result) {
	switch {
	case a.Exchange.Operation == translate.CountTokens && result.Status == http.StatusNotFound && estimates(t):
		t.Provider.Uncounted.Add(a.Model)
		h.logFailure(zapcore.InfoLevel, "provider does not count the tokens of this model, they are estimated", a, result,
			zap.Duration("asked_again_after", meter.AskAgainAfter))
	case result.Fault.Reason != "":
		h.logFailure(zapcore.InfoLevel, "provider refused the request", a, result,
			zap.String("reason", result.Fault.Reason), zap.String("path", result.Fault.Path))
	default:
		h.logFailure(zapcore.WarnLevel, "attempt failed", a, result, zap.String("fault", result.Fault.LogMessage()))
	}
}

func (h *Handler) logFailure(level zapcore.Level, message string, a *exchange.Attempt, result *exchange.Result, fields ...zap.Field) {
	h.logger.Log(level, message, append([]zap.Field{
		zap.String("request_id", a.Exchange.ID),
		zap.String("provider", a.Provider),
		zap.String("upstream_model", observe.Clip(a.Model)),
		zap.Int("upstream_status", result.Status),
		zap.String("upstream_request_id", observe.Clip(result.RequestID)),
		zap.NamedError("cause", result.Fault.Cause),
	}, fields...)...)
}

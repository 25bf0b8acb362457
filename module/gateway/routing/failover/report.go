package failover

import (
	"net/http"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/renegotiation"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover/selection"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

// reportFailure logs why an attempt failed, and remembers a provider that does not count
// tokens. The level is Warn only for failures that an operator may have to repair.
func (x *run) reportFailure(t *selection.Candidate, c *exchange.Conduit) {
	result := &c.Result
	switch {
	case x.ex.Request.Operation == translate.CountTokens && result.Status == http.StatusNotFound && t.EstimatesTokens():
		t.Provider.Calls.Uncounted.Add(c.Attempt.Model)
		x.log(zapcore.InfoLevel, "provider does not count the tokens of this model, they are estimated", c,
			zap.Duration("asked_again_after", health.AskAgainAfter))
	case result.Fault.BlamesRequest():
		x.log(zapcore.InfoLevel, "provider refused the request", c,
			zap.String("reason", result.Fault.Blame.Reason), zap.String("path", result.Fault.Blame.Path(formats.IsMember)))
	default:
		x.log(zapcore.WarnLevel, "attempt failed", c, zap.String("fault", result.Fault.LogMessage()))
	}
}

// reportLearned logs an alternative that later requests for the model take.
func (x *run) reportLearned(c *exchange.Conduit, d renegotiation.Alternative) {
	what := "provider wants another format for this model"
	if d.Unencrypted {
		what = "provider encrypts no reasoning of this model"
	}
	x.log(zapcore.InfoLevel, what, c,
		zap.Stringer("format", c.Attempt.Format), zap.Stringer("instead", d.Format), zap.Duration("for", d.Period))
}

func (x *run) log(level zapcore.Level, message string, c *exchange.Conduit, fields ...zap.Field) {
	x.site.Logger.Log(level, message, append([]zap.Field{
		zap.String("request_id", x.ex.ID),
		zap.String("provider", c.Attempt.Provider),
		zap.String("upstream_model", observe.Clip(c.Attempt.Model)),
		zap.Int("upstream_status", c.Result.Status),
		zap.String("upstream_request_id", observe.Clip(c.Result.Head.RequestID)),
		zap.NamedError("cause", c.Result.Fault.Cause),
	}, fields...)...)
}

// reportHealth reports by log and event that a target begins to rest, or answers again.
func (x *run) reportHealth(t *selection.Candidate, o health.Outcome, change health.Change) {
	names := []zap.Field{
		zap.String("provider", t.Provider.Name), zap.String("upstream_model", observe.Clip(t.Health.Model)), zap.String("api_key", t.Health.Key),
	}
	data := map[string]any{"provider": t.Provider.Name, "model": observe.Clip(t.Health.Model)}
	if change == health.Up {
		x.site.Logger.Info("provider answers again", names...)
		events.Emit(events.ProviderUp, data)
		return
	}
	end := health.Process.RestsUntil(t.Health)
	x.site.Logger.Warn("provider rests, other targets are asked first",
		append(names, zap.Stringer("cause", o.Class), zap.Time("until", end))...)
	data["cause"], data["until"] = o.Class.String(), end.UTC().Format(time.RFC3339)
	events.Emit(events.ProviderDown, data)
}

// reportModelEnd reports that the service ends the model of a target soon, once a day for each model.
func (x *run) reportModelEnd(t *selection.Candidate, now time.Time) {
	name := x.ex.Request.View.Model
	if end := t.End(name); end.IsSoon(now) {
		observe.AnnounceModelEnd(x.site.Logger, t.Provider.Name, end, func() []string { return t.Changes(name, now) }, now)
	}
}

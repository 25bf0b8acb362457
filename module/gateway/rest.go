package gateway

import (
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/choice"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
)

// showHealth reports by metric, log and event that a target begins to rest, or answers
// again.
func (h *Handler) showHealth(t choice.Candidate, o health.Outcome, change health.Change) {
	if change == health.Same {
		return
	}
	names := []zap.Field{
		zap.String("provider", t.Provider.Name), zap.String("upstream_model", observe.Clip(t.Health.Model)), zap.String("api_key", t.Health.Key),
	}
	data := map[string]any{"provider": t.Provider.Name, "model": observe.Clip(t.Health.Model)}
	if change == health.Up {
		h.logger.Info("provider answers again", names...)
		events.Emit(events.ProviderUp, data)
		return
	}
	until := health.Process.RestsUntil(t.Health)
	h.logger.Warn("provider rests, other targets are asked first",
		append(names, zap.Stringer("cause", o.Class), zap.Time("until", until))...)
	data["cause"], data["until"] = o.Class.String(), until.UTC().Format(time.RFC3339)
	events.Emit(events.ProviderDown, data)
}

package gateway

import (
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// mayEstimate reports whether the tokens of a request may be estimated: no target could
// be asked for a count, or the provider has no such endpoint. At least one target of the
// model must allow estimates.
func mayEstimate(m *catalog.Model, v verdict) bool {
	if v.failed != nil && v.failed.Result.Status != http.StatusNotFound {
		return false
	}
	return slices.ContainsFunc(m.Targets, estimates)
}

// estimate answers a request to count tokens with an estimate for the first target that
// allows estimates. A header marks the answer. A request that refers to a state at the
// provider is refused, because the tokens of that state are unknown.
func (h *Handler) estimate(m *catalog.Model, s *sink.Sink) *fault.Fault {
	ex, t := s.Exchange(), m.Targets[slices.IndexFunc(m.Targets, estimates)]
	if ex.View.State != "" {
		return fault.NeedsState(ex.View.State)
	}
	key := meter.Model{Provider: t.Provider.Name, Name: t.UpstreamModel(ex.View.Model)}
	h.ratios.Track(key)
	ex.Attempt, ex.Result = nil, nil // the answer comes from no target
	tokens := ex.Format.Requests.Measure(ex.Body).Tokens(h.ratios.BytesPerToken(key))
	s.SetHeader("X-Gateway-Estimate", "true")
	s.WriteJSON(ex.Format.Answers.TokenCount(nil, tokens))
	return nil
}

// estimates reports whether the tokens of requests to the target may be estimated.
func estimates(t catalog.Target) bool { return !t.Traits.NoTokenCount }

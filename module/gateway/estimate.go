package gateway

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
)

// estimates reports whether the tokens of a request may be estimated: nobody
// could be asked for a count, or the provider that was asked does not know the
// endpoint, and not every target of the model has estimates switched off.
func (m *model) estimates(v verdict) bool {
	if v.failed != nil && v.failed.Result.Status != http.StatusNotFound {
		return false
	}
	return slices.ContainsFunc(m.targets, target.estimates)
}

// estimate answers a count_tokens request with an estimate, and marks it as one. The
// estimate is that for the first target that allows estimates.
func (h *Handler) estimate(m *model, s *sink.Sink) {
	ex, t := s.Exchange(), m.targets[slices.IndexFunc(m.targets, target.estimates)]
	key := meter.Model{Provider: t.provider.name, Name: t.upstreamModel(ex.View.Model)}
	h.ratios.Track(key)
	ex.Attempt, ex.Result = nil, nil // no target has answered this
	tokens := ex.Format.Requests.Measure(ex.Body).Tokens(h.ratios.BytesPerToken(key))
	s.SetHeader("X-Gateway-Estimate", "true")
	s.WriteJSON(append(strconv.AppendInt([]byte(`{"input_tokens":`), tokens, 10), '}'))
}

// estimates reports whether the tokens of requests to the target may be estimated.
func (t target) estimates() bool { return !t.traits.NoTokenCount }

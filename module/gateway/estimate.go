package gateway

import (
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/failover"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// mayEstimate reports whether the tokens of a request may be estimated: no target could
// be asked for a count, or the provider has no such endpoint. At least one target of the
// model must allow estimates. What a provider stores is not estimated: it may be another client's, and its
// tokens are unknown. A state has a refusal of its own if no target keeps any.
func mayEstimate(m *catalog.Model, v failover.Verdict, ex *exchange.Exchange) bool {
	view := &ex.Request.View
	keepsStates := func(t catalog.Target) bool { return t.TraitsOf(view.Model).ResponsesState != trait.StateOff }
	switch {
	case v.Failed != nil && v.Failed.Result.Status != http.StatusNotFound:
		return false
	case view.Beyond.State != "" && slices.ContainsFunc(m.Targets, keepsStates):
		return false
	case v.Failed == nil && view.Beyond.State == "" && len(view.Beyond.ObjectIDs()) > 0:
		return false
	}
	return slices.ContainsFunc(m.Targets, catalog.Target.EstimatesTokens)
}

// estimate answers a request to count tokens with an estimate for the first target that
// allows estimates. A header marks the answer. A request that refers to a state is refused.
func (h *handler) estimate(m *catalog.Model, answer *reply.Reply) *fault.Fault {
	ex, t := answer.Exchange, m.Targets[slices.IndexFunc(m.Targets, catalog.Target.EstimatesTokens)]
	if ex.Request.View.Beyond.State != "" {
		return fault.NeedsState(ex.Request.View.Beyond.State)
	}
	key := meter.Model{Provider: t.Provider.Name, Name: t.UpstreamModel(ex.Request.View.Model)}
	h.providers.Ratios.Track(key)
	ex.Course.AnswerItself()
	tokens := ex.Request.Format.Requests.Measure(ex.Request.Body).Tokens(h.providers.Ratios.BytesPerToken(key))
	answer.SetHeaders("X-Gateway-Estimate", "true")
	answer.WriteJSON(ex.Request.Format.Answers.TokenCount(nil, tokens))
	return nil
}

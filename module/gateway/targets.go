package gateway

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/choice"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/detour"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// targets returns the targets of a model with their API keys, in the order in which they
// are asked; the package choice describes the order. It sets the session of the exchange
// if there is a choice of targets, API keys or addresses.
func (h *Handler) targets(m *catalog.Model, ex *exchange.Exchange) []choice.Candidate {
	if m.Chooses() {
		ex.Session = h.Affinity.Session(tenantOf(ex.Key), ex.Client.Get, ex.Body)
	}
	ordered := choice.Order(m, ex.View.Model, ex.Session, health.Process)
	for _, t := range choice.Resting(m, &ordered[0]) {
		passOver(ex, t, exchange.Rests)
	}
	return ordered
}

// passOver records that a target was not asked although it was its turn.
func passOver(ex *exchange.Exchange, t catalog.Target, why exchange.Reason) {
	ex.PassedOver = append(ex.PassedOver, exchange.PassedOver{Provider: t.Provider.Name, Model: t.UpstreamModel(ex.View.Model), Reason: why})
}

// newAttempt returns a conduit with the attempt to ask t. It returns a fault if the
// request can be neither relayed to the target nor translated for it.
func newAttempt(t choice.Candidate, ex *exchange.Exchange) (*exchange.Conduit, *fault.Fault) {
	spoken, fault := formatFor(t.Target, ex)
	if fault != nil {
		return nil, fault
	}
	return &exchange.Conduit{Attempt: exchange.Attempt{
		Exchange: ex,
		Provider: t.Provider.Name,
		Service:  t.Provider.Preset,
		Format:   spoken,
		Model:    t.Health.Model,
		APIKey:   t.APIKey,
		Traits:   detour.TraitsFor(t.Provider, t.Health.Model, spoken, t.TraitsOf(ex.View.Model)),
	}}, nil
}

// formatFor returns the format of the request to the target. For a request to count
// tokens, it returns a fault if the format has no such request, or the provider does not
// answer it.
func formatFor(t catalog.Target, ex *exchange.Exchange) (*format.Descriptor, *fault.Fault) {
	model := t.UpstreamModel(ex.View.Model)
	spoken := detour.FormatFor(t.Provider, model, ex.Format)
	if spoken != nil && ex.View.Schema != "" {
		spoken = t.Provider.SpeakSchemaFor(ex.Format, spoken, t.TraitsOf(ex.View.Model))
	}
	switch {
	case ex.Operation == translate.CountTokens && (spoken == nil || spoken.Answers.TokenCount == nil || t.Provider.Uncounted.Has(model)):
		return nil, fault.NoTokenCount(ex.View.Model)
	case spoken == nil:
		return nil, fault.Untranslatable(ex.Format.Name, ex.View.Model, t.Provider.Formats[0].Name)
	}
	return spoken, nil
}

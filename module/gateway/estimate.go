package gateway

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// estimates reports whether the tokens of a request may be estimated: nobody
// could be asked for a count, or the provider that was asked does not know the
// endpoint, and not every provider of the model has estimates switched off.
func (m *model) estimates(told *exchange.Attempt) bool {
	if told != nil && told.Status != http.StatusNotFound {
		return false
	}
	return slices.ContainsFunc(m.targets, func(t target) bool { return t.provider.estimates })
}

// estimate answers a count_tokens request with an estimate, and says so.
func (s *sink) estimate() {
	s.ex.Attempt = nil // whoever was asked did not answer this
	tokens := pairs.EstimateTokens(s.ex.Body)
	s.w.Header()["X-Gateway-Estimate"] = []string{"true"}
	s.write(append(strconv.AppendInt([]byte(`{"input_tokens":`), tokens, 10), '}'))
}

// mayEstimate reports whether a provider's traits allow estimates of tokens.
func (config *Provider) mayEstimate(d exchange.Defaults) bool {
	var traits translate.Traits
	_ = traits.SetAll(d.Traits) // both were checked
	_ = traits.SetAll(config.Traits)
	return !traits.NoTokenCount
}

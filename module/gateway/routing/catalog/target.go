package catalog

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target is a provider with its own name for the model.
type Target struct {
	Provider *Provider
	Model    string             // "" for the name that the client used
	Weight   int                // its share in its step, at least 1
	Traits   *trait.Traits      // of names with no traits of their own; see TraitsOf
	byModel  *modelTraits       // nil if no name has traits of its own
	prices   *prices.Table      // of this target only; see pricesOf
	If       Condition          // of requests that the target takes; nil for all
	Limits   []*aigateway.Limit // of its calls: its own, and that of its provider; none for most targets
}

// Condition decides whether a target takes a request.
type Condition interface {
	fmt.Stringer // the expression
	Holds(r *http.Request) bool
}

// Takes reports whether the condition of t holds for a request.
func (t *Target) Takes(r *http.Request) bool { return t.If == nil || t.If.Holds(r) }

// IsSame reports whether t and other are the same target of a model.
func (t *Target) IsSame(other *Target) bool {
	return t.Provider == other.Provider && t.Model == other.Model
}

// target returns the target for a model of p; model is "" for the name that the client uses.
// more are further layers of traits; later ones take precedence.
func (p *Provider) target(model string, more ...map[string]string) (Target, error) {
	t := Target{Provider: p, Model: model, Weight: 1}
	if p.Calls.limit != nil {
		t.Limits = []*aigateway.Limit{p.Calls.limit}
	}
	t.byModel = &modelTraits{provider: p, configured: append([]map[string]string{p.traits.configured}, more...)}
	var err error
	t.Traits, err = t.byModel.merge(nil)
	for _, row := range p.traits.models {
		if err == nil {
			_, err = t.byModel.merge(row.Traits)
		}
	}
	return t, err
}

// UpstreamModel returns the provider's own name for a model name that a client uses.
func (t Target) UpstreamModel(client string) string {
	if t.Model != "" {
		return t.Model
	}
	return client
}

// String returns the target as in the Caddyfile: "openai/gpt-5", or "openai" without a model.
func (t Target) String() string {
	if t.Model == "" {
		return t.Provider.Name
	}
	return t.Provider.Name + "/" + t.Model
}

// EstimatesTokens reports whether the tokens of requests to the target may be estimated.
func (t Target) EstimatesTokens() bool { return !t.Traits.NoTokenCount }

// TraitsOf returns the traits for a model name that a client uses.
func (t Target) TraitsOf(client string) *trait.Traits {
	if t.byModel == nil {
		return t.Traits
	}
	return cmp.Or(t.byModel.of(t.UpstreamModel(client)), t.Traits)
}

// Facts returns what is known of the model for a name that a client uses, nil if nothing is.
func (t Target) Facts(client string) *models.Facts {
	upstream := t.UpstreamModel(client)
	if t.byModel != nil {
		upstream = cmp.Or(t.byModel.sameAs(), upstream)
	}
	return t.Provider.Facts(upstream)
}

// modelFormats are the formats of models whose names match a pattern.
type modelFormats struct {
	pattern aigateway.Pattern
	sets    [models.AllEndpoints + 1][]*format.Descriptor // see formatsAt
}

// FormatsOf returns the formats of p for a model, by p's own name, or by the one that shows the
// model: those of the preset at the endpoints that have the model, unless the formats are configured.
func (p *Provider) FormatsOf(model string) []*format.Descriptor {
	for i := range p.offer.spoken {
		if p.offer.spoken[i].pattern.MatchAnyCase(model) {
			return p.offer.spoken[i].sets[p.Facts(model).Endpoints()]
		}
	}
	return p.Formats
}

// SpeakFor returns the format of requests to p for a model, by p's own name, and for clients of
// a format. If p speaks the client's format, it is that one, so that bytes are relayed unchanged;
// else it is the first format of p into which requests can be translated, nil if there is none.
func (p *Provider) SpeakFor(model string, client *format.Descriptor) *format.Descriptor {
	all := p.FormatsOf(model)
	if slices.Contains(all, client) {
		return client
	}
	for _, f := range all {
		if p.Speaks(f, model, client) {
			return f
		}
	}
	return nil
}

// SpeakSchemaFor returns the format of requests to p for a model, with traits, for clients that
// demand an answer by a schema. It is the usual format, unless p ignores schemas in it and
// another format of p has them.
func (p *Provider) SpeakSchemaFor(model string, client, usual *format.Descriptor, traits *trait.Traits) *format.Descriptor {
	if usual.Requests.HasSchemas(traits) {
		return usual
	}
	for _, f := range p.FormatsOf(model) {
		if p.Speaks(f, model, client) && f.Requests.HasSchemas(traits) {
			return f
		}
	}
	return usual
}

// Speaks reports whether p speaks f for a model, and requests of a client can be sent in f.
func (p *Provider) Speaks(f *format.Descriptor, model string, client *format.Descriptor) bool {
	return slices.Contains(p.FormatsOf(model), f) && (f == client || pairs.CanTranslate(client.Name, f.Name))
}

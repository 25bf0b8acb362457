package catalog

import (
	"fmt"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target is a provider with its own name for the model.
type Target struct {
	Provider *Provider
	Model    string        // "" for the name that the client used
	Weight   int           // its share in its step, at least 1
	Traits   *trait.Traits // of the model; if Model is "", of names that byModel does not match
	byModel  []modelTraits // of names with special traits, if Model is ""
	prices   *prices.Table // of this target only; see pricesOf
}

// modelTraits are the traits of models whose names match a pattern.
type modelTraits struct {
	pattern aigateway.Pattern
	traits  *trait.Traits
}

// layers are the traits of a provider. Later layers take precedence, and the traits of a
// target over all of them.
type layers struct {
	preset     map[string]string
	models     []aigateway.ModelTraits // of the preset
	configured map[string]string
}

// target returns the target for a model of p; model is "" for the name that the client uses.
// more are further layers of traits; later ones take precedence.
func (p *Provider) target(model string, more ...map[string]string) (Target, error) {
	t := Target{Provider: p, Model: model, Weight: 1}
	own := append([]map[string]string{p.traits.configured}, more...)
	var err error
	if t.Traits, err = mergeTraits(p.traits.preset, own); err != nil {
		return t, err
	}
	for _, row := range p.traits.models {
		traits, err := mergeTraits(p.traits.preset, append([]map[string]string{row.Traits}, own...))
		switch {
		case err != nil:
			return t, err
		case model == "":
			t.byModel = append(t.byModel, modelTraits{row.Pattern, traits})
		case row.Pattern.Match(model):
			t.Traits = traits
			return t, nil
		}
	}
	return t, nil
}

// mergeTraits merges layers of traits. Later ones take precedence.
func mergeTraits(first map[string]string, more []map[string]string) (*trait.Traits, error) {
	merged := new(trait.Traits)
	for _, values := range append([]map[string]string{first}, more...) {
		if err := merged.SetAll(values); err != nil {
			return nil, fmt.Errorf("traits: %w", err)
		}
	}
	return merged, nil
}

// UpstreamModel returns the provider's own name for a model name that a client uses.
func (t Target) UpstreamModel(client string) string {
	if t.Model != "" {
		return t.Model
	}
	return client
}

// EstimatesTokens reports whether the tokens of requests to the target may be estimated.
func (t Target) EstimatesTokens() bool { return !t.Traits.NoTokenCount }

// TraitsOf returns the traits for a model name that a client uses.
func (t Target) TraitsOf(client string) *trait.Traits {
	for _, m := range t.byModel {
		if m.pattern.Match(client) {
			return m.traits
		}
	}
	return t.Traits
}

// modelFormats are the formats of models whose names match a pattern.
type modelFormats struct {
	pattern aigateway.Pattern
	formats []*format.Descriptor
}

// FormatsOf returns the formats of p for a model, by p's own name.
func (p *Provider) FormatsOf(model string) []*format.Descriptor {
	for i := range p.spoken {
		if p.spoken[i].pattern.Match(model) {
			return p.spoken[i].formats
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

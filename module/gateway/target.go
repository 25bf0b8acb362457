package gateway

import (
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// target is a provider with the provider's own model name; "" means the name
// that the client used.
type target struct {
	provider *provider
	model    string
	traits   *translate.Traits // of every model, or of the one that is named
	byModel  []modelTraits     // of models that the client may name
}

// modelTraits are the traits of models whose names match a pattern.
type modelTraits struct {
	pattern aigateway.Pattern
	traits  *translate.Traits
}

// layers are the traits of a provider before those of a target, the first of
// which are overruled by the others.
type layers struct {
	preset     map[string]string
	models     []aigateway.ModelTraits // of the preset
	configured map[string]string
}

// target returns the target with the provider's own model name, "" for the name
// that the client uses, and with more traits, of which the last that says
// something counts.
func (p *provider) target(model string, more ...map[string]string) (target, error) {
	t := target{provider: p, model: model}
	own := append([]map[string]string{p.traits.configured}, more...)
	var err error
	if t.traits, err = mergeTraits(p.traits.preset, own); err != nil {
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
			t.traits = traits
			return t, nil
		}
	}
	return t, nil
}

// mergeTraits sets traits on top of others, in order.
func mergeTraits(first map[string]string, more []map[string]string) (*translate.Traits, error) {
	merged := new(translate.Traits)
	for _, values := range append([]map[string]string{first}, more...) {
		if err := merged.SetAll(values); err != nil {
			return nil, fmt.Errorf("traits: %w", err)
		}
	}
	return merged, nil
}

// upstreamModel is the provider's own name for the model that a client named.
func (t target) upstreamModel(client string) string {
	if t.model != "" {
		return t.model
	}
	return client
}

// traitsOf returns the traits of the model that a client named.
func (t target) traitsOf(client string) *translate.Traits {
	for _, m := range t.byModel {
		if m.pattern.Match(client) {
			return m.traits
		}
	}
	return t.traits
}

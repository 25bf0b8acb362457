package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/modellist"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/modelcard"
)

// resolved is a provisioned Config together with what it inherits.
type resolved struct {
	providers []*provider
	models    []*model
	claims    []claim // in the order in which they are asked
	sources   sources
	limiters  limiters
	lists     *modellist.Lists // of the whole configuration
}

// resolve provisions c on top of what it inherits.
func (c *Config) resolve(ctx caddy.Context, base *resolved) (*resolved, error) {
	r := &resolved{
		limiters:  make(limiters),
		providers: slices.Clone(base.providers),
		models:    slices.Clone(base.models),
		sources:   slices.Clone(base.sources),
		lists:     base.lists,
	}
	maps.Copy(r.limiters, base.limiters)
	// Limits come before the keys that name them, and key sources before providers:
	// the health checks of a provider start with it, and read what loading another
	// module writes.
	for _, add := range [...]func(caddy.Context, *Config) error{r.addLimiters, r.addKeySources, r.addProviders, r.addModels} {
		if err := add(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := r.rank(); err != nil {
		return nil, err
	}
	r.describe()
	return r, nil
}

// addProviders provisions the providers of c.
func (r *resolved) addProviders(ctx caddy.Context, c *Config) error {
	if err := c.AnswerBounds.Check(); err != nil {
		return err
	}
	for _, config := range c.Providers {
		if r.provider(config.Name) != nil {
			return fmt.Errorf("provider '%s' is defined twice", config.Name)
		}
		config.AnswerBounds.Inherit(c.AnswerBounds)
		p, err := newProvider(ctx, config, r.lists)
		if err != nil {
			return fmt.Errorf("provider '%s': %w", config.Name, err)
		}
		r.providers = append(r.providers, p)
	}
	return nil
}

// provider returns the provider with this name, nil when there is none.
func (r *resolved) provider(name string) *provider {
	i := slices.IndexFunc(r.providers, func(p *provider) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return r.providers[i]
}

// lookup returns the provider with a name. Its error has the name that was probably
// meant.
func (r *resolved) lookup(name string) (*provider, error) {
	if p := r.provider(name); p != nil {
		return p, nil
	}
	known := make([]string, len(r.providers))
	for i, p := range r.providers {
		known[i] = p.name
	}
	return nil, fmt.Errorf("unknown provider '%s'; %sknown are: %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
}

// addModels adds the models of c.
func (r *resolved) addModels(_ caddy.Context, c *Config) error {
	for _, config := range c.Models {
		if slices.ContainsFunc(r.models, func(m *model) bool { return string(m.pattern) == config.Name }) {
			return fmt.Errorf("model '%s' is defined twice", config.Name)
		}
		m, err := newModel(config, r.lookup)
		if err != nil {
			return fmt.Errorf("model '%s': %w", config.Name, err)
		}
		r.models = append(r.models, m)
	}
	return nil
}

// claim is one pattern with the model it leads to.
type claim struct {
	pattern aigateway.Pattern
	class   int // model block, provider's models, provider without models
	model   *model
	owner   string // for error messages
}

// The classes of claims, in the order in which they are asked.
const (
	modelBlock = iota
	providerModels
	catchAll
)

// rank puts all claims into the order in which they are asked: model blocks
// before providers' models, exact names before patterns, longer literal
// prefixes before shorter ones. Two claims of equal rank on the same name are
// an error: the order of a file must not decide in silence.
func (r *resolved) rank() error {
	r.claims = r.claims[:0]
	for _, m := range r.models {
		r.claims = append(r.claims, claim{m.pattern, modelBlock, m, fmt.Sprintf("model '%s'", m.pattern)})
	}
	for _, p := range r.providers {
		r.claims = append(r.claims, p.claims()...)
	}
	slices.SortStableFunc(r.claims, claim.compare)
	for i, a := range r.claims {
		for _, b := range r.claims[i+1:] {
			if a.compare(b) != 0 {
				break
			}
			if a.pattern.Overlaps(b.pattern) {
				return a.conflict(b)
			}
		}
	}
	return nil
}

// conflict returns the error for two claims of equal rank on the same name.
func (a claim) conflict(b claim) error {
	remedy := ""
	if a.class == catchAll {
		remedy = ": give one of them 'models', or 'models off' (in JSON disable_models) where model blocks alone lead to it"
	}
	return fmt.Errorf("%s and %s claim the same models with equal rank%s", a.owner, b.owner, remedy)
}

// compare compares the rank of claims: negative if a is asked before b, 0 if they have
// the same rank.
func (a claim) compare(b claim) int {
	return cmp.Or(
		cmp.Compare(a.class, b.class),
		-compareBool(a.pattern.Exact(), b.pattern.Exact()),
		-cmp.Compare(len(a.pattern.Prefix()), len(b.pattern.Prefix())),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// model returns the model that a name of a client leads to, nil if there is none.
func (r *resolved) model(name string) *model {
	for i := range r.claims {
		if r.claims[i].pattern.Match(name) {
			return r.claims[i].model
		}
	}
	return nil
}

// names returns the names of models that clients are shown, sorted: the exact names of
// model blocks and providers, and the models that providers are known to serve, if
// their names lead to that provider and to that model.
func (r *resolved) names() []string {
	var names []string
	for _, c := range r.claims {
		if c.pattern.Exact() {
			names = append(names, string(c.pattern))
		}
	}
	for _, p := range r.providers {
		for _, known := range p.models() {
			if m := r.model(known.ID); m != nil && m.leadsTo(p, known.ID) {
				names = append(names, known.ID)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// describeModel returns what is known of the model that a name leads to. If the name
// is not the provider's own, only the sizes are the same.
func (r *resolved) describeModel(name string) modelcard.Card {
	t := r.model(name).targets[0]
	known := modellist.Find(t.provider.models(), t.upstreamModel(name))
	if known.ID != name {
		return modelcard.Card{ID: name, ContextTokens: known.ContextTokens, OutputTokens: known.OutputTokens}
	}
	return known
}

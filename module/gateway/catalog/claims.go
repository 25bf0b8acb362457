package catalog

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// claim is a pattern with the model that it selects.
type claim struct {
	pattern aigateway.Pattern
	class   int // one of the classes below
	model   *Model
	owner   string // for error messages
}

// The classes of claims, in the order in which they are matched.
const (
	modelBlock = iota
	providerModels
	catchAll
)

// rank sorts all claims into the order in which they are matched: model blocks before the
// models of providers, exact names before patterns, longer literal prefixes before shorter
// ones. Two claims of equal rank on the same name are an error, because the order of a
// file must not decide in silence.
func (c *Catalog) rank() error {
	c.claims = c.claims[:0]
	for _, m := range c.models {
		c.claims = append(c.claims, claim{m.Pattern, modelBlock, m, fmt.Sprintf("model '%s'", m.Pattern)})
	}
	for _, p := range c.Providers {
		c.claims = append(c.claims, p.claims()...)
	}
	slices.SortStableFunc(c.claims, claim.compare)
	c.exact, c.patterns = make(map[string]int, len(c.claims)), nil
	for i, a := range c.claims {
		if !a.pattern.Exact() {
			c.patterns = append(c.patterns, i)
			if err := a.conflictWith(c.claims[i+1:]); err != nil {
				return err
			}
			continue
		}
		first, claimed := c.exact[string(a.pattern)]
		switch {
		case !claimed:
			c.exact[string(a.pattern)] = i
		case c.claims[first].compare(a) == 0:
			return c.claims[first].conflict(a)
		}
	}
	return nil
}

// conflictWith returns an error if one of the claims behind a has its rank, and claims one of
// its names.
func (a claim) conflictWith(behind []claim) error {
	for _, b := range behind {
		if a.compare(b) != 0 {
			break
		}
		if a.pattern.Overlaps(b.pattern) {
			return a.conflict(b)
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

// compare returns a negative number if a is matched before b, and 0 if both have the same
// rank.
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

// Model returns the model for a name that a client uses, nil if there is none.
func (c *Catalog) Model(name string) *Model {
	selected, exact := c.exact[name]
	if !exact {
		selected = len(c.claims)
	}
	for _, i := range c.patterns {
		if i > selected {
			break
		}
		if c.claims[i].pattern.Match(name) {
			return c.claims[i].model
		}
	}
	if !exact {
		return nil
	}
	return c.claims[selected].model
}

// claims returns the claims of p on model names.
func (p *Provider) claims() []claim {
	claimOf := func(pattern aigateway.Pattern, class int, owner string) claim {
		fallback, _ := parseFallback(nil)
		m := &Model{Pattern: pattern, Targets: []Target{p.whole}, Steps: [][]Target{{p.whole}}, Fallback: fallback, Attempts: 1}
		return claim{pattern, class, m, owner}
	}
	switch {
	case p.hidden:
		return nil
	case len(p.serves) == 0:
		return []claim{claimOf("*", catchAll, fmt.Sprintf("provider '%s' without models", p.Name))}
	}
	claims := make([]claim, 0, len(p.serves))
	for _, pattern := range p.serves {
		claims = append(claims, claimOf(pattern, providerModels, fmt.Sprintf("provider '%s' (models %s)", p.Name, pattern)))
	}
	return claims
}

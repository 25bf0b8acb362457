package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// claim is a pattern with the model that it selects.
type claim struct {
	pattern aigateway.Pattern
	small   aigateway.Pattern // the pattern in small letters
	class   int               // one of the classes below
	model   *Model
	owner   string // for error messages
}

func newClaim(pattern aigateway.Pattern, class int, m *Model, owner string) claim {
	return claim{pattern, aigateway.Pattern(strings.ToLower(string(pattern))), class, m, owner}
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
		c.claims = append(c.claims, newClaim(m.Pattern, modelBlock, m, fmt.Sprintf("model '%s'", m.Pattern)))
	}
	for _, p := range c.Providers {
		c.claims = append(c.claims, p.claims()...)
	}
	slices.SortStableFunc(c.claims, claim.compare)
	c.exact, c.folded, c.patterns = make(map[string]int, len(c.claims)), make(map[string]int), nil
	for i, a := range c.claims {
		if !a.pattern.Exact() {
			c.patterns = append(c.patterns, i)
			if err := a.conflictWith(c.claims[i+1:]); err != nil {
				return err
			}
			continue
		}
		if _, claimed := c.folded[string(a.small)]; !claimed {
			c.folded[string(a.small)] = i
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
func (a claim) conflictWith(others []claim) error {
	for _, b := range others {
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

// Model returns the model for a name that a client uses, in any letter case, nil if there is none. Services
// do not distinguish the case, and a client must not leave the block of a model, with its limits, by another
// spelling. Of claims with the same rank, the one with the letters of the name takes precedence.
func (c *Catalog) Model(name string) *Model {
	small := strings.ToLower(strings.TrimSpace(name))
	selected := c.named(name, small)
	for _, i := range c.patterns {
		claim := &c.claims[i]
		if selected >= 0 && i > selected && claim.compare(c.claims[selected]) != 0 {
			break
		}
		switch {
		case !claim.small.Match(small):
		case claim.pattern.Match(name):
			return claim.model
		case selected < 0 || i < selected:
			selected = i
		}
	}
	if selected < 0 {
		return nil
	}
	return c.claims[selected].model
}

// named returns the index of the first claim of a name without "*", -1 if there is none. small is the name in
// small letters.
func (c *Catalog) named(name, small string) int {
	first, folded := c.folded[small]
	if !folded {
		return -1
	}
	if same, exact := c.exact[name]; exact && c.claims[same].compare(c.claims[first]) == 0 {
		return same
	}
	return first
}

// LeadsTo reports whether requests can ask a provider for a model by the provider's own name.
func (c *Catalog) LeadsTo(p *Provider, upstream string) bool {
	leads := func(m *Model, name string) bool {
		return slices.ContainsFunc(m.Targets, func(t Target) bool { return t.Provider == p && cmp.Or(t.Model, name) == upstream })
	}
	m := c.Model(upstream)
	return m != nil && leads(m, upstream) || slices.ContainsFunc(c.models, func(m *Model) bool {
		return leads(m, "") || m.Mirror != nil && leads(m.Mirror.Model, upstream)
	})
}

// claims returns the claims of p on model names.
func (p *Provider) claims() []claim {
	claimOf := func(pattern aigateway.Pattern, class int, owner string) claim {
		fallback, _ := parseFallback(nil)
		whole := p.offer.whole
		m := &Model{Pattern: pattern, Targets: []Target{whole}, Steps: [][]Target{{whole}}, Fallback: fallback, Attempts: 1}
		return newClaim(pattern, class, m, owner)
	}
	switch {
	case p.offer.hidden:
		return nil
	case len(p.offer.serves) == 0:
		return []claim{claimOf("*", catchAll, fmt.Sprintf("provider '%s' without models", p.Name))}
	}
	claims := make([]claim, 0, len(p.offer.serves))
	for _, pattern := range p.offer.serves {
		claims = append(claims, claimOf(pattern, providerModels, fmt.Sprintf("provider '%s' (models %s)", p.Name, pattern)))
	}
	return claims
}

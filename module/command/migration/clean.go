package migration

import "slices"

// Clean leaves out what a Caddyfile or a file of keys cannot contain as text, and reports it. A
// provider with such a text is left out with its targets, so that no request goes to another
// address; a key whose list loses its last element is disabled, because no list means
// everything.
func (g *Gateway) Clean(report *Report) {
	const reason = "a brace, a control character or a mixture of quotes cannot be written as text"
	left := func(place, name string) { report.Add(Lost, place, "%s: %s", name, reason) }
	gone := map[string]bool{}
	g.Providers = slices.DeleteFunc(g.Providers, func(p *Provider) bool {
		bad := !writable(Line{Words: []string{p.Name, p.Preset}, Block: p.Lines})
		if bad {
			gone[p.Name] = true
			left("provider", p.Name)
		}
		return bad
	})
	defined := map[string]bool{}
	g.Models = slices.DeleteFunc(g.Models, func(m *Model) bool {
		if defined[m.Name] {
			report.Add(Lost, "model", "%s: the name is defined twice", m.Name)
			return true
		}
		defined[m.Name] = true
		m.Targets = slices.DeleteFunc(slices.Clone(m.Targets), func(t Target) bool {
			return gone[t.Provider] || !writable(Line{Words: []string{t.Provider, t.Model}, Block: t.Lines})
		})
		bad := !Writable(m.Name) || len(m.Targets) == 0
		if bad {
			left("model", m.Name)
		}
		return bad
	})
	for i := range g.Keys {
		k := &g.Keys[i]
		for _, list := range [...]*[]string{&k.Models, &k.Networks} {
			n := len(*list)
			*list = slices.DeleteFunc(slices.Clone(*list), func(text string) bool { return text == "" || !Writable(text) })
			if len(*list) < n {
				left("key", k.Name)
				k.Disabled = k.Disabled || len(*list) == 0
			}
		}
	}
	lines := func(place string, all []Line) []Line {
		return slices.DeleteFunc(all, func(l Line) bool {
			if writable(l) {
				return false
			}
			left(place, l.Words[0])
			return true
		})
	}
	g.Global, g.SiteWords = lines("ai_gateway", g.Global), lines("ai_gateway", g.SiteWords)
}

// writable reports whether all words of a line are.
func writable(l Line) bool {
	return !slices.ContainsFunc(l.Words, func(word string) bool { return !Writable(word) }) &&
		!slices.ContainsFunc(l.Block, func(inner Line) bool { return !writable(inner) })
}

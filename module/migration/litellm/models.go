package litellm

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/migration"
)

// groups adds a deployment to its group of the file, and to the access groups of keys.
func (s *source) groups(d *deployment) {
	if s.byName[d.name] == nil {
		s.names = append(s.names, d.name)
	}
	s.byName[d.name] = append(s.byName[d.name], d)
	for _, group := range d.info.texts("access_groups") {
		s.access[group] = append(s.access[group], d.name)
	}
}

// models adds a model for each name of the file, in its order, with the targets of its
// fallbacks behind its own, and for each alias.
func (s *source) models(router, settings *section) {
	chains, everyone := s.fallbacks(router, settings)
	for _, name := range s.names {
		m := &migration.Model{Name: name}
		s.follow(m, name, chains, everyone, map[string]bool{})
		s.gateway.Models = append(s.gateway.Models, m)
	}
	aliases := router.inner("model_group_alias")
	for _, alias := range aliases.names() {
		name := aliases.text(alias)
		if name == "" {
			hidden := aliases.inner(alias)
			name = hidden.text("model")
			if hidden.flag("hidden") {
				s.report.Add(migration.Changed, aliases.within(alias), "the list of models shows every name, this one too")
			}
		}
		i := slices.IndexFunc(s.gateway.Models, func(m *migration.Model) bool { return m.Name == name })
		if i < 0 {
			s.report.Add(migration.Lost, aliases.within(alias), "the model %s is not in the gateway", name)
			continue
		}
		s.gateway.Models = append(s.gateway.Models, &migration.Model{Comment: "an alias of " + name, Name: alias, Targets: s.gateway.Models[i].Targets})
	}
}

// fallbacks returns the names behind each name, and those behind every name that has none.
// The settings of the router take precedence.
func (s *source) fallbacks(router, settings *section) (chains map[string][]string, everyone []string) {
	chains = map[string][]string{}
	for _, from := range [...]*section{router, settings} {
		for _, entry := range from.list("fallbacks") {
			for _, name := range entry.names() {
				if chains[name] == nil {
					chains[name] = entry.texts(name)
				}
			}
		}
		if everyone == nil {
			everyone = from.texts("default_fallbacks")
		}
		for _, kind := range [...]string{"context_window_fallbacks", "content_policy_fallbacks"} {
			if from.take(kind) != nil {
				s.report.Add(migration.Lost, from.within(kind), "the gateway has one list of targets for each model: see the causes context_length and content_policy of fallback_on")
			}
		}
	}
	if all := chains["*"]; all != nil {
		everyone = all
	}
	return chains, everyone
}

// follow adds the targets of a name to a model, and then those of its fallbacks, depth first.
// A target is added once, so that circles end.
func (s *source) follow(m *migration.Model, name string, chains map[string][]string, everyone []string, seen map[string]bool) {
	if seen[name] {
		return
	}
	seen[name] = true
	if s.byName[name] == nil {
		s.report.Add(migration.Lost, "fallbacks", "the model %s behind %s is not in the gateway", name, m.Name)
		return
	}
	next := steps(s.byName[name])
	if len(m.Targets) > 0 && m.Targets[len(m.Targets)-1].Weight > 0 && len(next) > 1 && next[0].Weight > 0 {
		// Two successive steps with weights would be one.
		for i := range next {
			next[i].Weight = 0
		}
		s.report.Add(migration.Changed, "fallbacks", "the deployments of %s behind those of %s are tried one after the other", name, m.Name)
	}
	for _, t := range next {
		if !slices.ContainsFunc(m.Targets, func(known migration.Target) bool { return known.Same(&t) }) {
			m.Targets = append(m.Targets, t)
		}
	}
	behind, own := chains[name]
	if !own {
		behind = everyone
	}
	for _, behind := range behind {
		s.follow(m, behind, chains, everyone, seen)
	}
}

// steps returns the targets of the deployments of a name: a step for each order, whose
// deployments share the requests. One without a share beside others that have one gets none,
// so that it becomes the last step.
func steps(group []*deployment) (targets []migration.Target) {
	group = slices.Clone(group)
	slices.SortStableFunc(group, func(a, b *deployment) int { return cmp.Compare(a.order, b.order) })
	for len(group) > 0 {
		n := 1
		for n < len(group) && group[n].order == group[0].order {
			n++
		}
		targets = append(targets, shared(group[:n])...)
		group = group[n:]
	}
	return targets
}

// shared returns the targets of one step.
func shared(step []*deployment) (targets []migration.Target) {
	smallest := math.Inf(1)
	for _, d := range step {
		if d.share > 0 {
			smallest = min(smallest, d.share)
		}
	}
	var last []migration.Target
	for _, d := range step {
		t := migration.Target{Provider: d.provider.Name, Model: d.model, Lines: d.lines}
		switch {
		case math.IsInf(smallest, 1):
			t.Weight = 1
		case d.share > 0:
			t.Weight = int(math.Round(d.share / smallest))
		default:
			last = append(last, t)
			continue
		}
		targets = append(targets, t)
	}
	if len(targets) == 1 {
		targets[0].Weight = 0
	}
	return append(targets, last...)
}

// expand returns the names of models that the list of a key names: access groups become their
// names.
func (s *source) expand(names []string) (all []string) {
	for _, name := range names {
		if group := s.access[name]; group != nil && s.byName[name] == nil {
			all = append(all, group...)
		} else {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// has reports whether the gateway has a model of a name, an alias or a pattern.
func (s *source) has(name string) bool {
	return slices.ContainsFunc(s.gateway.Models, func(m *migration.Model) bool {
		beginning, pattern := strings.CutSuffix(m.Name, "*")
		return m.Name == name || pattern && strings.HasPrefix(name, beginning)
	})
}

package litellm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
)

// groups adds a deployment to its group of the file, and to the access groups of keys.
func (s *source) groups(d *deployment) {
	if s.byName[d.name] == nil {
		s.names = append(s.names, d.name)
	}
	s.byName[d.name] = append(s.byName[d.name], d)
	for _, group := range d.info.Texts("access_groups") {
		s.access[group] = append(s.access[group], d.name)
	}
}

// models adds a model for each name of the file, in its order, with the targets of its
// fallbacks behind its own, and for each alias.
func (s *source) models(router, settings *migration.Section) {
	chains, everyone := s.fallbacks(router, settings)
	order := s.order(router)
	for _, name := range s.names {
		m := &migration.Model{Name: name}
		if len(s.byName[name]) > 1 {
			m.Order = order
		}
		s.follow(m, name, chains, everyone, map[string]bool{})
		s.gateway.Models = append(s.gateway.Models, m)
	}
	aliases := router.Inner("model_group_alias")
	for _, alias := range aliases.Names() {
		name := aliases.Text(alias)
		if name == "" {
			hidden := aliases.Inner(alias)
			name = hidden.Text("model")
			if hidden.Flag("hidden") {
				s.report.Add(migration.Changed, aliases.Within(alias), "the list of models shows every name, this one too")
			}
		}
		i := slices.IndexFunc(s.gateway.Models, func(m *migration.Model) bool { return m.Name == name })
		if i < 0 {
			s.report.Add(migration.Lost, aliases.Within(alias), "the model %s is not in the gateway", name)
			continue
		}
		s.gateway.Models = append(s.gateway.Models, &migration.Model{Comment: "an alias of " + name, Name: alias, Targets: s.gateway.Models[i].Targets})
	}
}

// order returns the words of order for models with several deployments. These have weights, so that
// their fallbacks stay behind them.
func (s *source) order(router *migration.Section) []string {
	strategy, arguments := router.Text("routing_strategy"), router.Inner("routing_strategy_args")
	buffer, buffered := arguments.Number("lowest_latency_buffer")
	for _, name := range arguments.Unread() {
		s.report.Add(migration.Changed, arguments.Within(name), "the gateway measures streams of about ten minutes")
	}
	switch strategy {
	case "", "simple-shuffle":
		return nil
	case "cost-based-routing":
		return []string{"cost"}
	case "latency-based-routing":
		if buffered && buffer >= 0.01 && buffer <= 9 {
			return []string{"latency", "within", fmt.Sprintf("%.0f%%", 100*buffer)}
		}
		return []string{"latency"}
	}
	s.report.Add(migration.Changed, router.Within("routing_strategy"), "%s is not known: requests are shared by weight, and sessions stay together", strategy)
	return nil
}

// fallbacks returns the names behind each name, and those behind every name that has none.
// The settings of the router take precedence.
func (s *source) fallbacks(router, settings *migration.Section) (chains map[string][]string, everyone []string) {
	chains = map[string][]string{}
	for _, section := range [...]*migration.Section{router, settings} {
		for _, entry := range section.List("fallbacks") {
			for _, name := range entry.Names() {
				if chains[name] == nil {
					chains[name] = entry.Texts(name)
				}
			}
		}
		if everyone == nil {
			everyone = section.Texts("default_fallbacks")
		}
		for _, kind := range [...]string{"context_window_fallbacks", "content_policy_fallbacks"} {
			if section.Take(kind) != nil {
				s.report.Add(migration.Lost, section.Within(kind), "the gateway has one list of targets for each model: see the causes context_length and content_policy of fallback_on")
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
	var shares []migration.Share
	for _, d := range s.byName[name] {
		shares = append(shares, migration.Share{Target: migration.Target{Provider: d.provider.Name, Model: d.model, Lines: d.lines}, Weight: d.share, Order: d.order})
	}
	next, flattened := migration.Steps(shares)
	next = slices.DeleteFunc(next, func(t migration.Target) bool { return slices.ContainsFunc(m.Targets, t.Same) })
	targets, flat := migration.Behind(m.Targets, next)
	if m.Targets = targets; flat || flattened {
		s.report.Add(migration.Changed, "model_list", "deployments of %s behind others of %s are tried one after the other", name, m.Name)
	}
	fallback, own := chains[name]
	if !own {
		fallback = slices.DeleteFunc(slices.Clone(everyone), func(other string) bool { return s.kind(other) != s.kind(name) })
		if len(fallback) < len(everyone) {
			s.report.Add(migration.Changed, "default_fallbacks", "the model %s has none of another mode behind it: they could not answer its requests", name)
		}
	}
	for _, fallback := range fallback {
		s.follow(m, fallback, chains, everyone, seen)
	}
}

// kind returns the mode of the deployments of a name, "" for texts.
func (s *source) kind(name string) string {
	for _, d := range s.byName[name] {
		switch mode := d.info.Text("mode"); mode {
		case "", "chat", "completion", "responses":
		default:
			return mode
		}
	}
	return ""
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

package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"sync/atomic"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// layers are the traits of a provider. Those of the preset come first, then those of the preset for
// the model, then what follows from the facts of the model, then those of the configuration. Later
// layers take precedence.
type layers struct {
	preset     map[string]string
	models     []aigateway.ModelTraits // of the preset
	configured map[string]string
}

// modelTraits are the traits of a target by the names of models. They follow from a name once, at
// its first request, and again when the file of the catalog has changed, or other names have taken
// the room.
type modelTraits struct {
	provider   *Provider
	configured []map[string]string // the layers of the configuration

	known atomic.Pointer[knownTraits]
}

// knownTraits are the traits of names that have been asked for, nil for those of the target. The map
// does not change.
type knownTraits struct {
	content *tables.Content
	byName  map[string]*trait.Traits
}

// mostKnown is the largest number of names whose traits are kept: clients choose them.
const mostKnown = 1000

// of returns the traits of a model by the provider's own name, nil if they are those of the target.
func (m *modelTraits) of(name string) *trait.Traits {
	content, known := m.provider.listed.tables.File(), m.known.Load()
	if known != nil && known.content == content {
		if traits, ok := known.byName[name]; ok {
			return traits
		}
	}
	var traits *trait.Traits
	if own := m.own(name); own != nil {
		traits, _ = m.merge(own) // provision has merged all layers, and tables have valid traits only
	}
	m.keep(content, known, name, traits)
	return traits
}

// own returns the traits of the preset and of the facts for a name, nil if there are none.
func (m *modelTraits) own(name string) (own map[string]string) {
	name = cmp.Or(m.sameAs(), name)
	for _, row := range m.provider.traits.models {
		if row.Pattern.MatchAnyCase(name) {
			own = row.Traits
			break
		}
	}
	facts := m.provider.Facts(name).Traits()
	if len(own) == 0 {
		return facts
	}
	own = maps.Clone(own)
	maps.Copy(own, facts)
	return own
}

// sameAs returns the configured name of the model, "" if its name at the provider shows it.
func (m *modelTraits) sameAs() (name string) {
	for _, layer := range m.configured {
		name = cmp.Or(layer["same_as"], name)
	}
	return name
}

// merge returns the traits of the target for a model with traits of its own.
func (m *modelTraits) merge(own map[string]string) (*trait.Traits, error) {
	merged := new(trait.Traits)
	for _, values := range append([]map[string]string{m.provider.traits.preset, own}, m.configured...) {
		if err := merged.SetAll(values); err != nil {
			return nil, fmt.Errorf("traits: %w", err)
		}
	}
	return merged, nil
}

// keep adds the traits of a name to those that are known, or replaces them if there is no room: a
// client that asks for ever new names must not make the requests for all others slow. Of two
// goroutines that keep at once, one may win: the other name is merged again.
func (m *modelTraits) keep(content *tables.Content, known *knownTraits, name string, traits *trait.Traits) {
	next := &knownTraits{content, map[string]*trait.Traits{name: traits}}
	if known != nil && known.content == content && len(known.byName) < mostKnown {
		maps.Copy(next.byName, known.byName)
	}
	m.known.CompareAndSwap(known, next)
}

package pairs

import (
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Fate is what becomes of a field on its way to another format.
type Fate = core.Fate

// The fates.
const (
	Kept    = core.Kept
	Hinted  = core.Hinted
	Shaped  = core.Shaped
	Refused = core.Refused
)

// Field is a row of the table of a pair of formats: a field of the client's format and
// what becomes of it. The tables are published by the gateway. A test compares every row
// with the translation.
type Field = core.Field

// Rule is a fate under a trait.
type Rule = core.FieldRule

// tables contains the table of every pair. A table is made at its first use: a gateway
// needs few of them.
var tables = func() map[[2]translate.Format]func() []Field {
	all := make(map[[2]translate.Format]func() []Field)
	for _, client := range formats.All() {
		for _, provider := range formats.OfProviders() {
			if CanTranslate(client.Name, provider.Name) {
				all[[2]translate.Format{client.Name, provider.Name}] = sync.OnceValue(func() []Field {
					return core.Join(client.Requests.Source, provider.Requests.Target)
				})
			}
		}
	}
	return all
}()

// Fields returns the table of a pair of formats, nil if requests cannot be translated.
// It must not be changed.
func Fields(client, provider translate.Format) []Field {
	if made := tables[[2]translate.Format{client, provider}]; made != nil {
		return made()
	}
	return nil
}

// Capabilities lists the fields of a client's format by their fates with a provider of
// another format. The names are those of Field.
type Capabilities struct {
	Kept     []string `json:"kept"`     // carried over
	Reported []string `json:"reported"` // left out or changed, and listed in the report
	Refused  []string `json:"refused"`  // the request is refused
}

// CapabilitiesOf returns the fields of a pair of formats by their fates under the
// traits. Kept includes the extensions that the traits name.
func CapabilitiesOf(client, provider translate.Format, traits *trait.Traits) Capabilities {
	c := Capabilities{Kept: []string{}, Reported: []string{}, Refused: []string{}}
	named := make(map[string]bool)
	for _, f := range Fields(client, provider) {
		named[f.Name] = true
		switch f.Under(traits) {
		case Kept:
			c.Kept = append(c.Kept, f.Name)
		case Refused:
			c.Refused = append(c.Refused, f.Name)
		default:
			c.Reported = append(c.Reported, f.Name)
		}
	}
	target := formats.Of(provider).Requests.Target
	for _, name := range traits.Extensions {
		if !named[name] && target.Extends(traits, name) {
			c.Kept = append(c.Kept, name)
		}
	}
	return c
}

package pairs

import (
	"strings"

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
// what becomes of it. The tables are published by the gateway, and contain the names
// that metrics may show. A test compares every row with the translation.
type Field = core.Field

// Rule is a fate under a trait.
type Rule = core.FieldRule

// tables contains the rows of every pair.
var tables = func() map[[2]translate.Format][]Field {
	all := make(map[[2]translate.Format][]Field)
	for _, from := range formats.All() {
		for _, to := range formats.OfProviders() {
			if CanTranslate(from.Name, to.Name) {
				all[[2]translate.Format{from.Name, to.Name}] = core.Join(from.Requests.Source, to.Requests.Target)
			}
		}
	}
	return all
}()

// Fields returns the table of a pair of formats, nil if requests cannot be translated.
// It must not be changed.
func Fields(from, to translate.Format) []Field { return tables[[2]translate.Format{from, to}] }

// Capabilities lists the fields of a client's format by their fates with a provider of
// another format. The names are those of Field.
type Capabilities struct {
	Kept     []string `json:"kept"`     // carried over
	Reported []string `json:"reported"` // left out or changed, and listed in the report
	Refused  []string `json:"refused"`  // the request is refused
}

// CapabilitiesOf returns the fields of a pair of formats by their fates under the
// traits. Kept includes the extensions that the traits name.
func CapabilitiesOf(from, to translate.Format, traits *trait.Traits) Capabilities {
	c := Capabilities{Kept: []string{}, Reported: []string{}, Refused: []string{}}
	named := make(map[string]bool)
	for _, f := range Fields(from, to) {
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
	target := formats.Of(to).Requests.Target
	for _, name := range traits.Extensions {
		if !named[name] && target.Extends(traits, name) {
			c.Kept = append(c.Kept, name)
		}
	}
	return c
}

// known contains the paths of reports that come from code, not from clients or providers.
var known = func() map[[2]translate.Format]map[string]bool {
	all := make(map[[2]translate.Format]map[string]bool, len(tables))
	for pair, fields := range tables {
		all[pair] = make(map[string]bool, len(fields))
		for i := range fields {
			if f := &fields[i]; !strings.HasSuffix(f.Path, "*") || f.Path != f.Name {
				all[pair][f.Path] = true
			}
		}
	}
	return all
}()

// LossName returns the name of a loss for metrics, which must have a bounded number of
// names: the path of the loss if it is in the tables or, for answers and for the byte
// lane, a constant of the code. A name chosen by a client or a provider is replaced by
// "?".
func LossName(from, to translate.Format, loss translate.Loss) string {
	switch {
	case loss.Foreign:
		return loss.Path[:strings.LastIndexByte(loss.Path, '.')+1] + "?"
	case loss.Class == translate.OfAnswer || from == to || known[[2]translate.Format{from, to}][loss.Path]:
		return loss.Path
	default:
		return "?"
	}
}

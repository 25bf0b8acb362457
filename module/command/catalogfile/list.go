package catalogfile

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

var errNothingKnown = errors.New("nothing is known of such a model; see the names with: caddy ai-gateway models")

// model is a model with what the tables contain about it.
type model struct {
	provider, name string
	facts          *models.Facts // nil if they have none
	price          *prices.Price // nil if it is unknown
}

// list prints the models with the names, or all that is known of the only one.
func list(cmd *cobra.Command, names []string) error {
	path, _ := cmd.Flags().GetString("catalog")
	file, err := read(path)
	if err != nil {
		return err
	}
	found := find(file, names)
	printer := newPrinter(cmd.OutOrStdout())
	switch len(found) {
	case 0:
		return errNothingKnown
	case 1:
		printer.details(found[0])
	default:
		printer.list(found)
	}
	return printer.Flush()
}

// find returns the models with one of the names: those of a service, by any name that it has for them
// (openai/gpt-5.5), then those of rows with a name, which may be a pattern. Without names, it returns
// all models.
func find(file *tables.Content, names []string) (found []model) {
	if len(names) == 0 {
		names = []string{"*"}
	}
	known := tables.New(file)
	var others []string
	for _, name := range names {
		provider, model, _ := strings.Cut(name, "/")
		if m := lookup(known, provider, model); m.facts != nil || m.price != nil {
			found = append(found, m)
		} else {
			others = append(others, name)
		}
	}
	for _, row := range rows(file, known) {
		if slices.ContainsFunc(others, func(name string) bool { return row.has(name) }) {
			found = append(found, lookup(known, row.provider, row.names[0]))
		}
	}
	return found
}

// lookup returns the model with a name at a provider, as the gateway finds it.
func lookup(known *tables.Tables, provider, name string) model {
	place := tables.Place{Provider: provider, Service: provider}
	if preset, err := caddy.GetModule("ai_gateway.providers." + provider); err == nil {
		place.Names = preset.New().(aigateway.Preset).Defaults().Listing
		place.Service = cmp.Or(place.Names.As, provider)
	}
	return model{provider, name, known.Facts(place, name), known.Price(place, name, time.Now())}
}

// row is a row of a table by its names.
type row struct {
	provider string
	names    []string
}

// rows returns the rows of all tables: those with facts, and then those with the prices of models
// without facts.
func rows(file *tables.Content, known *tables.Tables) (all []row) {
	for _, facts := range slices.Concat(file.Models.Rows, models.Builtin().Rows) {
		all = append(all, row{facts.Provider, facts.Names})
	}
	for _, name := range sorted(slices.Values(slices.Concat(file.Prices.Names(), prices.Builtin().Names()))) {
		if lookup(known, name.Provider, name.Name).facts == nil {
			all = append(all, row{name.Provider, []string{name.Name}})
		}
	}
	return all
}

// has reports whether a row is about a name, which may be a pattern.
func (r row) has(name string) bool {
	pattern := aigateway.Pattern(name)
	return slices.ContainsFunc(r.names, func(known string) bool {
		version, open := strings.CutSuffix(known, "*")
		return pattern.Match(known) || pattern.Match(r.provider+"/"+known) || open && strings.HasPrefix(name, version)
	})
}

// list prints a line for each model.
func (p printer) list(found []model) {
	p.row("MODEL", "CONTEXT", "LONGEST", "SAMPLING", "THINKING", "PRICE", "ENDS", "AS OF")
	for _, m := range found {
		asOf := ""
		if m.facts != nil {
			asOf = m.facts.AsOf
		}
		p.row(
			m.provider+"/"+m.name, m.facts.Value("context"), m.facts.Value("longest"), m.facts.Value("sampling"), m.facts.Value("thinking"),
			short(m.price), m.facts.Value("shutdown"), asOf,
		)
	}
}

// details prints all that is known of a model, with the origin of both rows.
func (p printer) details(m model) {
	p.row("model", m.provider+"/"+m.name)
	if m.facts == nil {
		p.row("facts", "unknown")
	} else {
		p.facts(m)
	}
	if m.price == nil {
		p.row("price", "unknown")
		return
	}
	for _, cell := range m.price.Cells() {
		p.row("price "+cell.Column, cell.Value)
	}
	p.origin("price ", m.price.IsBuiltin(), m.price.Origin.AsOf, m.price.Origin.Source, m.price.Origin.Note)
}

// facts prints the facts of a model.
func (p printer) facts(m model) {
	if others := slices.DeleteFunc(slices.Clone(m.facts.Names), func(name string) bool { return name == m.name }); len(others) > 0 {
		p.row("also", strings.Join(others, " "))
	}
	for _, column := range m.facts.Known() {
		p.row(column, m.facts.Value(column))
	}
	for _, name := range slices.Sorted(maps.Keys(m.facts.Traits())) {
		p.row("trait "+name, m.facts.Traits()[name])
	}
	p.origin("", m.facts.Builtin, m.facts.AsOf, m.facts.Source, m.facts.Note)
}

// origin prints where a row comes from.
func (p printer) origin(prefix string, builtin bool, asOf, source, note string) {
	origin := "the file"
	if builtin {
		origin = "the table that is compiled in"
	}
	p.row(prefix+"from", origin)
	for _, fact := range [...][2]string{{"as of", asOf}, {"source", source}, {"note", note}} {
		if fact[1] != "" {
			p.row(prefix+fact[0], fact[1])
		}
	}
}

// short returns the prices of input, output and units, such as 5/30 USD or minute 0.006 USD.
func short(p *prices.Price) string {
	if p == nil {
		return ""
	}
	var parts []string
	for _, cell := range p.Cells() {
		switch cell.Column {
		case "image", "minute", "characters":
			parts = append(parts, cell.Column+" "+cell.Value)
		}
	}
	if tokens := p.Base.Fresh.PerMillion() + "/" + p.Base.Answer.PerMillion(); tokens != "0/0" || len(parts) == 0 {
		parts = append([]string{tokens}, parts...)
	}
	return strings.Join(append(parts, p.Currency), " ")
}

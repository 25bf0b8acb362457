package catalogfile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

var errNothingKnown = errors.New("nothing is known of such a model; see the names with: caddy ai-gateway models")

// list prints the models with the names, or the facts of the only one.
func list(cmd *cobra.Command, names []string) error {
	path, _ := cmd.Flags().GetString("catalog")
	file, err := read(path)
	if err != nil {
		return err
	}
	known := rows(file, names)
	out := newPrinter(cmd.OutOrStdout())
	switch len(known) {
	case 0:
		return errNothingKnown
	case 1:
		out.details(file, known[0])
	default:
		out.list(file, known)
	}
	return out.Flush()
}

// rows returns the rows with one of the names, those of the file first. Without names, it returns all.
func rows(file *tables.Content, names []string) (known []*models.Facts) {
	for _, row := range slices.Concat(file.Models.Rows, models.Builtin().Rows) {
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return has(row, name) }) {
			known = append(known, row)
		}
	}
	return known
}

// has reports whether a row is about a name, which may be a pattern.
func has(row *models.Facts, name string) bool {
	pattern := aigateway.Pattern(name)
	return slices.ContainsFunc(row.Names, func(known string) bool {
		version, open := strings.CutSuffix(known, "*")
		return pattern.Match(known) || pattern.Match(row.Provider+"/"+known) || open && strings.HasPrefix(strings.TrimPrefix(name, row.Provider+"/"), version)
	})
}

// list prints a line for each row.
func (p printer) list(file *tables.Content, known []*models.Facts) {
	p.row("MODEL", "CONTEXT", "LONGEST", "SAMPLING", "THINKING", "INPUT/OUTPUT", "ENDS", "AS OF")
	for _, row := range known {
		p.row(
			row.Provider+"/"+row.Names[0], row.Value("context"), row.Value("longest"), row.Value("sampling"), row.Value("thinking"),
			price(file, row, row.Names[0]), row.Value("shutdown"), row.AsOf,
		)
	}
}

// details prints all that is known of a model.
func (p printer) details(file *tables.Content, row *models.Facts) {
	p.row("model", row.Provider+"/"+row.Names[0])
	if len(row.Names) > 1 {
		p.row("also", strings.Join(row.Names[1:], " "))
	}
	for _, column := range row.Known() {
		p.row(column, row.Value(column))
	}
	for _, name := range slices.Sorted(maps.Keys(row.Traits())) {
		p.row("trait "+name, row.Traits()[name])
	}
	p.row("price", price(file, row, row.Names[0]))
	p.row("from", origin(row))
	p.row("as of", row.AsOf)
	p.row("source", row.Source)
	if row.Note != "" {
		p.row("note", row.Note)
	}
}

// origin returns the table of a row.
func origin(row *models.Facts) string {
	if row.Builtin {
		return "the table that is compiled in"
	}
	return "the file"
}

// price returns the prices of input and output of a model for a million tokens, "" if they are unknown.
func price(file *tables.Content, row *models.Facts, name string) string {
	now := time.Now()
	known := file.Prices.Find(row.Provider, name, now)
	if known == nil {
		known = prices.Builtin().Find(row.Provider, name, now)
	}
	if known == nil {
		return ""
	}
	return tokens(known)
}

func tokens(p *prices.Price) string {
	return fmt.Sprintf("%s/%s %s", p.Base.Fresh.PerMillion(), p.Base.Answer.PerMillion(), p.Currency)
}

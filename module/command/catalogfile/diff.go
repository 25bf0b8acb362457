package catalogfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// diff prints what a file changes, by the names in it and in the older file.
func diff(cmd *cobra.Command, args []string) error {
	files := make([]*tables.Content, 2) // new and old
	for i, path := range append(args, "")[:2] {
		var err error
		if files[i], err = read(path); err != nil {
			return err
		}
	}
	out, changes := newPrinter(cmd.OutOrStdout()), 0
	for _, name := range names(files) {
		for _, change := range changesOf(name, files[1], files[0]) {
			out.row(name.Provider+"/"+name.Name, change.column, cmp.Or(change.before, "unknown"), "->", cmp.Or(change.after, "unknown"))
			changes++
		}
	}
	if changes == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "no price and no fact changes")
		return err
	}
	return out.Flush()
}

// names returns the names in files, sorted.
func names(files []*tables.Content) []modeltable.Key {
	all := make(map[modeltable.Key]bool)
	for _, file := range files {
		for _, row := range file.Models.Rows {
			for _, name := range row.Names {
				all[modeltable.Key{Provider: row.Provider, Name: name}] = true
			}
		}
		for _, name := range file.Prices.Names() {
			all[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b modeltable.Key) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	})
}

// change is another value of a column.
type change struct{ column, before, after string }

// changesOf returns what changes for a name.
func changesOf(name modeltable.Key, before, after *tables.Content) (changes []change) {
	old, next := facts(name, before), facts(name, after)
	for _, column := range models.FactColumns() {
		if a, b := old.Value(column), next.Value(column); a != b {
			changes = append(changes, change{column, a, b})
		}
	}
	if a, b := priceOf(name, before), priceOf(name, after); !a.CostsAs(b) {
		changes = append(changes, change{"price", described(a), described(b)})
	}
	return changes
}

// facts returns the facts of a name with a file.
func facts(name modeltable.Key, file *tables.Content) *models.Facts {
	if known := file.Models.Find(name.Provider, name.Name); known != nil {
		return known
	}
	return models.Builtin().Find(name.Provider, name.Name)
}

// priceOf returns the price of a name with a file.
func priceOf(name modeltable.Key, file *tables.Content) *prices.Price {
	if known := file.Prices.Find(name.Provider, name.Name, time.Now()); known != nil {
		return known
	}
	return prices.Builtin().Find(name.Provider, name.Name, time.Now())
}

func described(p *prices.Price) string {
	if p == nil {
		return ""
	}
	return p.Name()
}

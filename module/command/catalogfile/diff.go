package catalogfile

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
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
	next, old := tables.New(files[0]), tables.New(files[1])
	printer, changes := newPrinter(cmd.OutOrStdout()), 0
	for _, name := range names(files) {
		for _, change := range changesOf(lookup(old, name.Provider, name.Name), lookup(next, name.Provider, name.Name)) {
			printer.row(name.Provider+"/"+name.Name, change.column, cmp.Or(change.old, "unknown"), "->", cmp.Or(change.next, "unknown"))
			changes++
		}
	}
	if changes == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "no price and no fact changes")
		return err
	}
	return printer.Flush()
}

// names returns the names in files, sorted.
func names(files []*tables.Content) []modeltable.Key {
	return sorted(func(yield func(modeltable.Key) bool) {
		for _, file := range files {
			for _, row := range file.Models.Rows {
				for _, name := range row.Names {
					if !yield(modeltable.Key{Provider: row.Provider, Name: name}) {
						return
					}
				}
			}
			for _, name := range file.Prices.Names() {
				if !yield(name) {
					return
				}
			}
		}
	})
}

// sorted returns names by their providers, each once.
func sorted(names iter.Seq[modeltable.Key]) []modeltable.Key {
	return slices.Compact(slices.SortedFunc(names, func(a, b modeltable.Key) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Name, b.Name))
	}))
}

// change is another value of a column.
type change struct{ column, old, next string }

// changesOf returns the columns of a model whose values change.
func changesOf(old, next model) (changes []change) {
	for _, column := range models.FactColumns() {
		if a, b := old.facts.Value(column), next.facts.Value(column); a != b {
			changes = append(changes, change{column, a, b})
		}
	}
	if old.price == nil && next.price == nil {
		return changes
	}
	if old.price == nil || next.price == nil {
		return append(changes, change{"price", short(old.price), short(next.price)})
	}
	oldCells, nextCells := cells(old.price), cells(next.price)
	for _, column := range prices.Columns {
		if a, b := oldCells[column], nextCells[column]; a != b {
			changes = append(changes, change{"price " + column, cmp.Or(a, emptyCell), cmp.Or(b, emptyCell)})
		}
	}
	return changes
}

// emptyCell is what is shown of an empty cell of a price, whose meaning depends on its column.
const emptyCell = "(empty)"

// cells returns the values of a price by column.
func cells(p *prices.Price) map[string]string {
	values := make(map[string]string)
	for _, cell := range p.Cells() {
		values[cell.Column] = cell.Value
	}
	return values
}

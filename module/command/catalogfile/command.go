// Package catalogfile contains the commands about the tables of models and prices: what is known of
// a model, whether a catalog file is valid, and what the file changes.
//
// The commands read the tables that are compiled in, and files. They call no gateway, and change
// nothing. Texts of files are printed without invisible characters.
package catalogfile

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog/tables"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/prices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/models"
)

// Command returns the command caddy ai-gateway models.
func Command() *cobra.Command {
	cmd := &cobra.Command{
		Use: "models [<name>...]", Short: "Shows what is known of models: lengths, accepted fields, prices, ends", Args: cobra.ArbitraryArgs,
		Long: `
Lists the models of the tables that are compiled in, or those with a name. A name may be that of a
service and a model, by any name that the service has for it, such as openai/gpt-5.5; * stands for any
text. Of a single model, all facts and the whole price are shown, each with source and date, and the
traits that follow from the facts.`,
		RunE: list,
	}
	cmd.Flags().StringP("catalog", "", "", "Catalog file, whose rows come before those that are compiled in")
	cmd.AddCommand(
		&cobra.Command{
			Use: "check <file>", Short: "Checks a catalog file, and prints its mistakes with their lines and columns", Args: cobra.ExactArgs(1), RunE: check,
		},
		&cobra.Command{
			Use: "diff <file> [<old>]", Short: "Shows what a catalog file changes: prices and facts, beside another file or the built-in tables", Args: cobra.RangeArgs(1, 2), RunE: diff,
		},
	)
	return cmd
}

// read reads a catalog file. An empty path is no file.
func read(path string) (*tables.Content, error) {
	if path == "" {
		return &tables.Content{Models: new(models.Table), Prices: new(prices.Table)}, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := tables.Read(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s:\n%w", path, err)
	}
	return &content, nil
}

func check(cmd *cobra.Command, args []string) error {
	content, err := read(args[0])
	if err == nil {
		err = content.CheckJumps(nil)
	}
	if err != nil {
		return err
	}
	printer := newPrinter(cmd.OutOrStdout())
	printer.row(fmt.Sprintf("%s is valid: %d rows with facts, %d names with prices", args[0], len(content.Models.Rows), len(content.Prices.Names())))
	for _, provider := range others(content) {
		printer.row(fmt.Sprintf("%s is no preset: its rows apply to a provider with this name, or with listed_as %[1]s", provider))
	}
	return printer.Flush()
}

// others returns the providers of a file that are no presets: names of the operator's own, or with a
// mistake.
func others(file *tables.Content) (all []string) {
	for _, name := range names([]*tables.Content{file}) {
		if _, err := caddy.GetModule("ai_gateway.providers." + name.Provider); err != nil {
			all = append(all, name.Provider)
		}
	}
	return slices.Compact(all)
}

// printer prints a table. It keeps the first error for Flush.
type printer struct{ *tabwriter.Writer }

func newPrinter(w io.Writer) printer { return printer{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)} }

// row prints a row, with its invisible characters replaced by spaces.
func (p printer) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, cell)
	}
	fmt.Fprintln(p, strings.Join(cells, "\t")) // Flush returns the error
}

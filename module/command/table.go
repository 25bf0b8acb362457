package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// table is a table for people. Clients and providers choose some of its texts, so that
// invisible characters, which can change the terminal, forge lines or turn the direction
// of writing, become spaces.
type table struct{ *tabwriter.Writer }

// newTable returns a table with these names of columns.
func newTable(out io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(columns...)
	return t
}

// row adds a row.
func (t table) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = plain(cell)
	}
	fmt.Fprintln(t, strings.Join(cells, "\t")) // Flush returns the error
}

// plain returns a text with spaces for its invisible characters.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

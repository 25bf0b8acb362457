package command

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// table is a table for a terminal. Clients and providers choose some of its texts. Their
// invisible characters could change the terminal, forge lines or reverse the direction
// of writing, so the table replaces them by spaces.
type table struct{ *tabwriter.Writer }

// newTable returns a table with the named columns.
func newTable(w io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
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

// plain returns a text with its invisible characters replaced by spaces.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

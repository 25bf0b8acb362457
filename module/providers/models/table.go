package models

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/modeltable"
)

//go:embed models.csv
var builtin []byte

// Builtin returns the table that is compiled in.
var Builtin = sync.OnceValue(func() *Table {
	t, err := Read(bytes.NewReader(builtin), nil)
	if err != nil {
		panic(err) // tests read this table
	}
	for _, f := range t.Rows {
		f.Builtin = true
	}
	return t
})

// Table is a table of facts, which does not change. A nil *Table is empty.
type Table struct {
	Rows []*Facts // in the order of the file

	index modeltable.Index[*Facts]
}

// Read reads a table from a CSV file with the columns of Columns, all of which but the first two
// may be missing. The empty cells of a row that is like no other are those of the same name in
// base. The error contains all mistakes, each in a line of its own.
func Read(r io.Reader, base *Table) (*Table, error) {
	rows, err := modeltable.Read(r, Columns, Columns[:required])
	if err != nil {
		return nil, err
	}
	return FromSheet(rows, base)
}

// FromSheet returns a table with the facts in the rows of a file; see Read. The rows may have other
// columns, too.
func FromSheet(rows []modeltable.Row, base *Table) (*Table, error) {
	t := new(Table)
	var failures []error
	for i := range rows {
		failures = append(failures, rows[i].Locate(t.add(rows[i].Cells))...)
	}
	links := links{table: t, base: base, origins: make(map[*Facts]string), begun: make(map[*Facts]bool)}
	for i, f := range t.Rows {
		links.origins[f] = rows[i].Cells["like"]
	}
	for i, f := range t.Rows {
		if err := links.complete(f); err != nil {
			failures = append(failures, rows[i].Locate([]error{err})...)
		}
	}
	return t, modeltable.Errors(failures)
}

// add adds a row, and returns its mistakes.
func (t *Table) add(cells map[string]string) (failures []error) {
	fail := func(column string, err error) {
		if err != nil {
			failures = append(failures, &modeltable.CellError{Column: column, Err: err})
		}
	}
	f := &Facts{
		Provider: cells["provider"], Names: strings.Fields(cells["models"]),
		AsOf: cells["as_of"], Source: cells["source"], Note: cells["note"], cells: make([]string, len(columns)),
	}
	t.Rows = append(t.Rows, f)
	if f.Provider == "" {
		fail("provider", errRequired)
	}
	if len(f.Names) == 0 {
		fail("models", errRequired)
	}
	if f.AsOf != "" && !isDate(f.AsOf) {
		fail("as_of", errDate)
	}
	for i := range columns {
		c := &columns[i]
		fail(c.name, c.check(cells[c.name]))
		f.cells[i] = cells[c.name]
	}
	if failures == nil && f.Longest() > f.Context() && f.Context() > 0 {
		fail("longest", errLongest)
	}
	for _, name := range f.Names {
		fail("models", t.name(f, name))
	}
	return failures
}

var (
	errRequired = errors.New("is required")
	errDate     = errors.New("must be a date: 2026-11-30")
	errLongest  = errors.New("must not be more than the context, which has the prompt and the answer")
)

// name adds a name of a row.
func (t *Table) name(f *Facts, name string) error {
	if err := modeltable.CheckName(name); err != nil {
		return err
	}
	if _, known := t.index.Get(f.Provider, name); known {
		return fmt.Errorf("%s has two rows for %s", f.Provider, name)
	}
	t.index.Set(f.Provider, name, f)
	return nil
}

// Find returns the facts of a provider's model, nil if nothing is known. An exact name takes
// precedence over one with "*", and a longer one over a shorter one. In the table that is compiled
// in, "*" matches a version of a model, and not another model.
func (t *Table) Find(provider, name string) *Facts {
	if t == nil {
		return nil
	}
	f, version, _ := t.index.Find(provider, name)
	if f != nil && f.Builtin && modeltable.IsOtherModel(version) {
		return nil
	}
	return f
}

// FindVariant returns the facts of a provider's model in another notation, nil for none:
// claude-opus-4-7 for claude-opus-4.7 and anthropic/claude-opus-4-7-latest.
func (t *Table) FindVariant(provider, name string) *Facts {
	if t == nil {
		return nil
	}
	f, _ := t.index.FindVariant(provider, name)
	return f
}

// Lists reports whether the table has models of a provider.
func (t *Table) Lists(provider string) bool {
	return t != nil && slices.ContainsFunc(t.Rows, func(f *Facts) bool { return f.Provider == provider })
}

// Newest returns the newest date of a row, zero if no row has one.
func (t *Table) Newest() (newest time.Time) {
	if t == nil {
		return newest
	}
	for _, f := range t.Rows {
		if date, err := time.Parse(time.DateOnly, f.AsOf); err == nil && date.After(newest) {
			newest = date
		}
	}
	return newest
}

// HasFacts reports whether a row of a file contains facts.
func HasFacts(row modeltable.Row) bool {
	return row.Cells["like"] != "" || slices.ContainsFunc(columns, func(c column) bool { return row.Cells[c.name] != "" })
}

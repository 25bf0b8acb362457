// Package modeltable reads tables of models from CSV files, and finds their rows by the names of
// models. The first line of a file names the columns, in any order.
//
// An error of a cell has the line of the cell, its column and the name of the column, so that
// an editor can show it. The package refuses unknown columns and rows of another length; what a
// cell may contain is checked by the packages that read the rows.
package modeltable

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// maxRows is the largest number of rows in a table.
const maxRows = 100_000

// maxErrors is the largest number of errors that Errors returns.
const maxErrors = 100

// Row is a line of a table below the names of the columns.
type Row struct {
	// Cells are the values by the names of their columns, without space around them. Columns
	// that the table does not have are missing.
	Cells map[string]string

	columns map[string]int // the indexes of places by the names of the columns, the same for all rows
	places  []place
}

// place is where a cell begins, both counted from 1. The column is that of a byte.
type place struct{ line, column int }

// Read reads a table with some of the known columns, of which some are required. It ignores a
// byte order mark, with which spreadsheets begin a file. The error of a table with several lines
// of another length than the first contains all of them; see Errors.
func Read(r io.Reader, known, required []string) (rows []Row, err error) {
	lines := csv.NewReader(withoutMark(r))
	lines.FieldsPerRecord = -1 // other lengths are reported together
	header, err := lines.Read()
	if err == io.EOF {
		return nil, errEmpty
	}
	if err != nil {
		return nil, fmt.Errorf("reading the names of columns: %w", err)
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
		if isUnreadable(header[i]) {
			return nil, fmt.Errorf("the line with the names of columns: %w", errUnreadable)
		}
	}
	if err := CheckColumns(header, known, required); err != nil {
		return nil, err
	}
	columns := make(map[string]int, len(header))
	for i, name := range header {
		columns[name] = i
	}
	var failures []error
	for range maxRows {
		cells, err := lines.Read()
		if err == io.EOF {
			return rows, Errors(failures)
		}
		if err != nil {
			return nil, err
		}
		if len(cells) != len(header) {
			line, _ := lines.FieldPos(0)
			failures = append(failures, fmt.Errorf("line %d: has %d cells, and %d columns have names", line, len(cells), len(header)))
			continue
		}
		row := Row{make(map[string]string, len(cells)), columns, make([]place, len(cells))}
		for i, name := range header {
			row.Cells[name] = strings.TrimSpace(cells[i])
			row.places[i].line, row.places[i].column = lines.FieldPos(i)
		}
		failures = append(failures, row.Locate(row.unreadable(header))...)
		rows = append(rows, row)
	}
	return nil, fmt.Errorf("a table has at most %d rows", maxRows)
}

var (
	errEmpty      = errors.New("the file is empty")
	errSeparator  = errors.New("the cells of a row must be separated by commas")
	errUnreadable = errors.New("has a character that cannot be seen, or is not in UTF-8")
)

// unreadable returns the mistakes of cells with characters that nobody sees: a name with one of them,
// which a copy from a web page may have, is that of no model.
func (row *Row) unreadable(header []string) (failures []error) {
	for _, name := range header {
		if isUnreadable(row.Cells[name]) {
			failures = append(failures, &CellError{name, errUnreadable})
		}
	}
	return failures
}

func isUnreadable(cell string) bool {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\t\r\n", r) }
	return !utf8.ValidString(cell) || strings.ContainsFunc(cell, hidden)
}

// CheckName returns an error if a name of a table is that of no model: if it has a "*" before its end,
// or what a copy of a text has in the place of a space or of a hyphen.
func CheckName(name string) error {
	isDash := func(r rune) bool { return r != '-' && unicode.Is(unicode.Dash, r) }
	switch {
	case strings.Contains(strings.TrimSuffix(name, "*"), "*"):
		return fmt.Errorf("%s: only the last character of a name may be a *", name)
	case strings.ContainsAny(name, ",;"):
		return fmt.Errorf("%s: names must be separated by spaces", name)
	case strings.ContainsFunc(name, isDash):
		return fmt.Errorf("%s: has a dash that is no hyphen", name)
	}
	return nil
}

// CheckColumns returns an error if a name of a column is not known or occurs twice, or if one
// that is required is missing.
func CheckColumns(names, known, required []string) error {
	for i, name := range names {
		switch {
		case strings.ContainsAny(name, ";\t"): // as spreadsheets write it in some countries
			return errSeparator
		case !slices.Contains(known, name):
			return fmt.Errorf("the column %q is unknown; %sthe columns are %s", name, suggest.DidYouMean(name, known), strings.Join(known, ", "))
		case slices.Contains(names[:i], name):
			return fmt.Errorf("the column %s occurs twice", name)
		}
	}
	for _, name := range required {
		if !slices.Contains(names, name) {
			return fmt.Errorf("the column %s is missing", name)
		}
	}
	return nil
}

// withoutMark returns r without a byte order mark at its beginning.
func withoutMark(r io.Reader) io.Reader {
	const mark = "\uFEFF"
	buffered := bufio.NewReader(r)
	if start, _ := buffered.Peek(len(mark)); string(start) == mark { // the error of a short text is that of the next read
		_, _ = buffered.Discard(len(mark))
	}
	return buffered
}

// CellError is the error of the cell of a column.
type CellError struct {
	Column string // its name
	Err    error
}

func (e *CellError) Error() string { return e.Column + ": " + e.Err.Error() }

// Unwrap returns the error without the name of the column.
func (e *CellError) Unwrap() error { return e.Err }

// Locate returns the errors of the row with their places in the file. An error that is no
// CellError is one of the whole row.
func (row *Row) Locate(failures []error) []error {
	located := make([]error, len(failures))
	for i, err := range failures {
		var cell *CellError
		if errors.As(err, &cell) {
			place := row.place(cell.Column)
			located[i] = fmt.Errorf("line %d, column %d: %w", place.line, place.column, err)
			continue
		}
		located[i] = fmt.Errorf("line %d: %w", row.places[0].line, err)
	}
	return located
}

// place returns the place of the cell of a column, that of the first cell if the table does not have
// the column.
func (row *Row) place(column string) place { return row.places[row.columns[column]] }

// Errors joins the errors of a table, each in a line of its own, nil if there are none. It leaves
// out those behind the hundredth.
func Errors(failures []error) error {
	if more := len(failures) - maxErrors; more > 0 {
		failures = append(slices.Clip(failures[:maxErrors]), fmt.Errorf("and %d more errors", more))
	}
	return errors.Join(failures...)
}

package reports

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
)

// wantsTable reports whether a client requests comma-separated values.
func wantsTable(r *http.Request) (bool, error) {
	switch r.URL.Query().Get("format") {
	case "":
	case "csv":
		return true, nil
	case "json":
		return false, nil
	default:
		return false, answer.Invalid("format must be json or csv")
	}
	first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	mediaType, _, _ := strings.Cut(first, ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "text/csv"), nil
}

// column is a column of comma-separated values, whose rows are made of values of type T.
type column[T any] struct {
	name string
	text func(*T) string
}

func number[T any](name string, value func(*T) int64) column[T] {
	return column[T]{name, func(v *T) string { return strconv.FormatInt(value(v), 10) }}
}

// headerOf returns the names of columns.
func headerOf[T any](columns []column[T]) []string {
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.name
	}
	return names
}

// rowOf returns the cells of a value.
func rowOf[T any](columns []column[T], v *T) []string {
	cells := make([]string, len(columns))
	for i, column := range columns {
		cells[i] = plainCell(column.text(v))
	}
	return cells
}

// table is an answer with all items of a list as comma-separated values. The first line
// contains the names of the columns. The table is written page by page.
type table struct {
	header []string
	first  [][]string
	next   func() ([][]string, error) // reads the rows of the following page; none at the end
	failed func(error)
}

// newTable returns a table whose pages next reads, and reads the first one. failed logs why
// the table breaks off.
func newTable(failed func(error), header []string, next func() ([][]string, error)) (t table, err error) {
	t = table{header: header, next: next, failed: failed}
	t.first, err = next()
	return t, err
}

// Write implements answer.Written. If a page cannot be read, it aborts the connection, so that the
// client cannot mistake the previous rows for the whole table.
func (t table) Write(w http.ResponseWriter) {
	answer.WriteHeader(w, "text/csv; charset=utf-8", "no-store")
	writer := csv.NewWriter(w)
	_ = writer.Write(t.header) // Error returns it
	for rows := t.first; len(rows) > 0; {
		if err := writer.WriteAll(rows); err != nil {
			return // the client has left
		}
		var err error
		if rows, err = t.next(); err != nil {
			t.failed(err)
			panic(http.ErrAbortHandler)
		}
	}
	writer.Flush() // the client may have left
}

// plainCell returns a text that spreadsheets do not run as a formula. Clients choose the
// names of models.
func plainCell(text string) string {
	if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

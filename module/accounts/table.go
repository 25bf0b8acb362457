package accounts

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
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
		return false, invalid("format must be json or csv")
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

func number[T any](name string, of func(*T) int64) column[T] {
	return column[T]{name, func(v *T) string { return strconv.FormatInt(of(v), 10) }}
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

// write implements written. If a page cannot be read, it aborts the connection, so that the
// client cannot mistake the previous rows for the whole table.
func (t table) write(w http.ResponseWriter) {
	writeHeader(w, "text/csv; charset=utf-8", "no-store")
	out := csv.NewWriter(w)
	_ = out.Write(t.header) // Error returns it
	for rows := t.first; len(rows) > 0; {
		if err := out.WriteAll(rows); err != nil {
			return // the client has left
		}
		var err error
		if rows, err = t.next(); err != nil {
			t.failed(err)
			panic(http.ErrAbortHandler)
		}
	}
	out.Flush() // the client may have left
}

// dimensionColumns are the columns of the dimensions of sums.
var dimensionColumns = map[accounting.Dimension]column[usageView]{
	accounting.ByHour:     {"from", func(v *usageView) string { return v.From }},
	accounting.ByDay:      {"from", func(v *usageView) string { return v.From }},
	accounting.ByMonth:    {"from", func(v *usageView) string { return v.From }},
	accounting.ByKey:      {"key", func(v *usageView) string { return v.Key }},
	accounting.ByUser:     {"user", func(v *usageView) string { return v.User }},
	accounting.ByLimit:    {"limit", func(v *usageView) string { return v.Limit }},
	accounting.ByModel:    {"model", func(v *usageView) string { return v.Model }},
	accounting.ByProvider: {"provider", func(v *usageView) string { return v.Provider }},
	accounting.ByUpstream: {"upstream_model", func(v *usageView) string { return v.Upstream }},
	accounting.ByOutcome:  {"outcome", func(v *usageView) string { return v.Outcome }},
	accounting.ByCustomer: {"customer", func(v *usageView) string { return v.Customer }},
	accounting.ByLabel:    {"label", func(v *usageView) string { return v.Label }},
}

// columnOf returns the column of a dimension.
func columnOf(d accounting.Dimension) column[usageView] {
	if d.IsTag() {
		return column[usageView]{string(d), func(v *usageView) string { return v.Tag }}
	}
	return dimensionColumns[d]
}

// sumColumns are the columns of every table of sums, after those of the dimensions.
var sumColumns = []column[usageView]{
	number("requests", func(v *usageView) int64 { return v.Requests }),
	number("calls", func(v *usageView) int64 { return v.Calls }),
	number("input_tokens", func(v *usageView) int64 { return v.InputTokens }),
	number("cache_read_tokens", func(v *usageView) int64 { return v.CacheReadTokens }),
	number("cache_write_tokens", func(v *usageView) int64 { return v.CacheWrite }),
	number("output_tokens", func(v *usageView) int64 { return v.OutputTokens }),
	number("reasoning_tokens", func(v *usageView) int64 { return v.ReasoningTokens }),
	number("searches", func(v *usageView) int64 { return v.Searches }),
	number("cost_micro", func(v *usageView) int64 { return v.CostMicro }),
	{"currency", func(v *usageView) string { return v.Currency }},
	number("estimated", func(v *usageView) int64 { return v.Estimated }),
	number("unpriced", func(v *usageView) int64 { return v.Unpriced }),
}

// usageTable reads the first page of a table of sums.
func (r reports) usageTable(c *call, reader accounting.LedgerReader, q accounting.UsageQuery, zone *time.Location) (table, error) {
	var columns []column[usageView]
	for _, dimension := range q.By {
		columns = append(columns, columnOf(dimension))
	}
	columns = append(columns, sumColumns...)
	q.Limit = tablePage
	last := false
	return newTable(r.failed, headerOf(columns), func() ([][]string, error) {
		if last {
			return nil, nil
		}
		sums, err := reader.Usage(c.Context(), q)
		rows := make([][]string, len(sums))
		for i := range sums {
			view := viewUsage(&sums[i], zone)
			rows[i] = rowOf(columns, &view)
		}
		if last = len(sums) < tablePage; !last {
			q.After = &sums[len(sums)-1]
		}
		return rows, err
	})
}

// plainCell returns a text that spreadsheets do not run as a formula. Clients choose the
// names of models.
func plainCell(text string) string {
	if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

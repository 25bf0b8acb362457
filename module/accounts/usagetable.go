package accounts

import (
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
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

// tableColumn is a column of comma-separated values.
type tableColumn struct {
	name string
	text func(*usageView) string
}

func number(name string, of func(*usageView) int64) tableColumn {
	return tableColumn{name, func(v *usageView) string { return strconv.FormatInt(of(v), 10) }}
}

// dimensionColumns are the columns of the dimensions of sums.
var dimensionColumns = map[aigateway.Dimension]tableColumn{
	aigateway.ByHour:     {"from", func(v *usageView) string { return v.From }},
	aigateway.ByDay:      {"from", func(v *usageView) string { return v.From }},
	aigateway.ByMonth:    {"from", func(v *usageView) string { return v.From }},
	aigateway.ByKey:      {"key", func(v *usageView) string { return v.Key }},
	aigateway.ByUser:     {"user", func(v *usageView) string { return v.User }},
	aigateway.ByModel:    {"model", func(v *usageView) string { return v.Model }},
	aigateway.ByProvider: {"provider", func(v *usageView) string { return v.Provider }},
	aigateway.ByUpstream: {"upstream_model", func(v *usageView) string { return v.Upstream }},
	aigateway.ByOutcome:  {"outcome", func(v *usageView) string { return v.Outcome }},
}

// sumColumns are the columns of every table, after those of the dimensions.
var sumColumns = []tableColumn{
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

// usageTable is an answer with all sums of a query as comma-separated values. The first line
// contains the names of the columns. The table is written page by page.
type usageTable struct {
	columns []tableColumn
	zone    *time.Location
	first   []aigateway.Usage
	after   func(*aigateway.Usage) ([]aigateway.Usage, error) // reads the page behind a sum
	failed  func(error)                                       // logs why the table breaks off
}

// usageTable reads the first page of a table.
func (a *Accounts) usageTable(c *call, reader aigateway.LedgerReader, q aigateway.UsageQuery, zone *time.Location) (table usageTable, err error) {
	q.Limit = tablePage
	table.zone = zone
	for _, dimension := range q.By {
		table.columns = append(table.columns, dimensionColumns[dimension])
	}
	table.columns = append(table.columns, sumColumns...)
	table.after = func(last *aigateway.Usage) ([]aigateway.Usage, error) {
		q.After = last
		return reader.Usage(c.Context(), q)
	}
	table.failed = func(err error) { _ = a.problemOf(err) }
	table.first, err = table.after(nil)
	return table, err
}

// write implements written. If a page cannot be read, it aborts the connection, so that the
// client cannot mistake the previous rows for the whole table.
func (t usageTable) write(w http.ResponseWriter) {
	writeHeader(w, "text/csv; charset=utf-8", "no-store")
	out := csv.NewWriter(w)
	row := make([]string, len(t.columns))
	for i, column := range t.columns {
		row[i] = column.name
	}
	_ = out.Write(row) // Error returns it
	for page := t.first; len(page) > 0; {
		t.writeRows(out, row, page)
		if out.Error() != nil || len(page) < tablePage {
			break
		}
		var err error
		if page, err = t.after(&page[len(page)-1]); err != nil {
			t.failed(err)
			panic(http.ErrAbortHandler)
		}
	}
	out.Flush() // the client may have left
}

// writeRows writes a page. row is a buffer for the cells.
func (t usageTable) writeRows(out *csv.Writer, row []string, page []aigateway.Usage) {
	for _, sum := range page {
		view := viewUsage(sum, t.zone)
		for i, column := range t.columns {
			row[i] = plainCell(column.text(&view))
		}
		_ = out.Write(row) // Error returns it
	}
}

// plainCell returns a text that spreadsheets do not run as a formula. Clients choose the
// names of models.
func plainCell(text string) string {
	if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

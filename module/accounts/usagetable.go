package accounts

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// wantsTable reports whether a client asks for comma-separated values.
func wantsTable(r *http.Request) bool {
	if format := r.URL.Query().Get("format"); format != "" {
		return format == "csv"
	}
	first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	mediaType, _, _ := strings.Cut(first, ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "text/csv")
}

// tableColumn is a column of comma-separated values.
type tableColumn struct {
	name string
	text func(*usageView) string
}

func number(name string, of func(*usageView) int64) tableColumn {
	return tableColumn{name, func(v *usageView) string { return strconv.FormatInt(of(v), 10) }}
}

// dimensionColumns are the columns of what sums are divided by.
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

// sumColumns are the columns of sums.
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

// usageTable returns all sums as comma-separated values, with the names of the columns
// in the first line.
func usageTable(sums []aigateway.Usage, by []aigateway.Dimension, zone *time.Location) (document, error) {
	var columns []tableColumn
	for _, dimension := range by {
		columns = append(columns, dimensionColumns[dimension])
	}
	columns = append(columns, sumColumns...)
	var out bytes.Buffer
	table := csv.NewWriter(&out)
	row := make([]string, len(columns))
	for i, column := range columns {
		row[i] = column.name
	}
	_ = table.Write(row) // the buffer takes all
	for _, sum := range sums {
		view := viewUsage(sum, zone)
		for i, column := range columns {
			row[i] = plainCell(column.text(&view))
		}
		_ = table.Write(row)
	}
	table.Flush()
	return document{"text/csv; charset=utf-8", "no-store", out.Bytes()}, table.Error()
}

// plainCell returns a text that spreadsheets do not take for a formula: clients choose
// names of models.
func plainCell(text string) string {
	if strings.ContainsAny(text[:min(1, len(text))], "=+-@\t\r") {
		return "'" + text
	}
	return text
}

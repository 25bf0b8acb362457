package reports

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// dimensionColumns are the columns of the dimensions of sums.
var dimensionColumns = map[accounting.Dimension]column[api.Usage]{
	accounting.ByHour:     {"from", func(v *api.Usage) string { return v.Start }},
	accounting.ByDay:      {"from", func(v *api.Usage) string { return v.Start }},
	accounting.ByMonth:    {"from", func(v *api.Usage) string { return v.Start }},
	accounting.ByKey:      {"key", func(v *api.Usage) string { return v.Key }},
	accounting.ByUser:     {"user", func(v *api.Usage) string { return v.User }},
	accounting.ByLimit:    {"limit", func(v *api.Usage) string { return v.Limit }},
	accounting.ByModel:    {"model", func(v *api.Usage) string { return v.Model }},
	accounting.ByProvider: {"provider", func(v *api.Usage) string { return v.Provider }},
	accounting.ByUpstream: {"upstream_model", func(v *api.Usage) string { return v.Upstream }},
	accounting.ByOutcome:  {"outcome", func(v *api.Usage) string { return v.Outcome }},
	accounting.ByCustomer: {"customer", func(v *api.Usage) string { return v.Customer }},
	accounting.ByLabel:    {"label", func(v *api.Usage) string { return v.Label }},
}

// columnOf returns the column of a dimension.
func columnOf(d accounting.Dimension) column[api.Usage] {
	if d.IsTag() {
		return column[api.Usage]{string(d), func(v *api.Usage) string { return v.Tag }}
	}
	return dimensionColumns[d]
}

// sumColumns are the columns of every table of sums, after those of the dimensions.
var sumColumns = []column[api.Usage]{
	number("requests", func(v *api.Usage) int64 { return v.Requests }),
	number("calls", func(v *api.Usage) int64 { return v.Calls }),
	number("input_tokens", func(v *api.Usage) int64 { return v.Input }),
	number("cache_read_tokens", func(v *api.Usage) int64 { return v.CacheRead }),
	number("cache_write_tokens", func(v *api.Usage) int64 { return v.CacheWrite }),
	number("output_tokens", func(v *api.Usage) int64 { return v.Output }),
	number("reasoning_tokens", func(v *api.Usage) int64 { return v.Reasoning }),
	number("searches", func(v *api.Usage) int64 { return v.Searches }),
	number("cost_micro", func(v *api.Usage) int64 { return v.CostMicro }),
	{"currency", func(v *api.Usage) string { return v.Currency }},
	number("estimated", func(v *api.Usage) int64 { return v.Estimated }),
	number("unpriced", func(v *api.Usage) int64 { return v.Unpriced }),
	number("saved_micro", func(v *api.Usage) int64 { return v.SavedMicro }),
}

// usageTable reads the first page of a table of sums.
func (r Reports) usageTable(c *call.Call, reader accounting.LedgerReader, q accounting.UsageQuery, zone *time.Location) (table, error) {
	var columns []column[api.Usage]
	for _, dimension := range q.By {
		columns = append(columns, columnOf(dimension))
	}
	columns = append(columns, sumColumns...)
	q.Limit = tablePage
	last := false
	return newTable(r.Failed, headerOf(columns), func() ([][]string, error) {
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

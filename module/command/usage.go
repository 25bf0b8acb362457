package command

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const usagePath = apiPath + "usage"

// columns are the columns of the dimensions of usage, by their names.
var columns = map[string]func(*api.Usage) string{
	"hour":           func(u *api.Usage) string { return u.Start },
	"day":            func(u *api.Usage) string { return strings.SplitN(u.Start, "T", 2)[0] },
	"month":          func(u *api.Usage) string { return u.Start[:min(len("2006-01"), len(u.Start))] },
	"key":            func(u *api.Usage) string { return u.Key },
	"user":           func(u *api.Usage) string { return u.User },
	"limit":          func(u *api.Usage) string { return u.Limit },
	"model":          func(u *api.Usage) string { return u.Model },
	"provider":       func(u *api.Usage) string { return u.Provider },
	"upstream_model": func(u *api.Usage) string { return u.Upstream },
	"outcome":        func(u *api.Usage) string { return u.Outcome },
	"customer":       func(u *api.Usage) string { return u.Customer },
}

// columnOf returns the column of a dimension: that of tags, if it has no other.
func columnOf(name string) func(*api.Usage) string {
	if column := columns[name]; column != nil {
		return column
	}
	return func(u *api.Usage) string { return u.Tag }
}

// usageCommand returns the command caddy ai-gateway usage.
func usageCommand() *cobra.Command {
	cmd := withAdmin(&cobra.Command{Use: "usage", Short: "Shows the requests, tokens and costs in the ledger", Args: cobra.NoArgs}, showUsage)
	addStoreFlags(cmd)
	cmd.Flags().StringSliceP("by", "", []string{"day", "model"}, "Dimensions to group by: hour, day or month, key, user, limit, model, provider, upstream_model, outcome, and customer or tag:NAME")
	cmd.Flags().StringP("from", "", "", "First day, YYYY-MM-DD, RFC 3339 time, or time before now, such as -24h or -7d (default 30 days ago)")
	cmd.Flags().StringP("to", "", "", "Day or time before which requests count (default now)")
	cmd.Flags().StringP("user", "u", "", "Name of the user (default all)")
	cmd.Flags().StringP("key", "k", "", "ID of a key, or number of a key of a user (default all)")
	cmd.Flags().StringP("tag", "", "", "A tag, such as team=search (default all)")
	cmd.Flags().StringP("customer", "", "", "Name of the customer (default all)")
	cmd.Flags().StringP("team", "", "", "Name of the team (default all)")
	addRecordFlags(cmd)
	addFormatFlags(cmd)
	cmd.AddCommand(repriceCommand())
	return cmd
}

// showUsage prints sums or single records.
func showUsage(cmd *cobra.Command, a admin, _ []string) error {
	if records, _ := cmd.Flags().GetBool("records"); records {
		return showRecords(cmd, a)
	}
	for _, name := range recordFlags {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s needs --records", name)
		}
	}
	dimensions, _ := cmd.Flags().GetStringSlice("by")
	query := flagQuery(cmd, "from", "to", "user", "key", "team", "tag", "customer")
	query.Set("by", strings.Join(dimensions, ","))
	return printList(cmd, a, list{path: usagePath, query: query, table: func(w io.Writer, items []json.RawMessage) error {
		sums, err := decoded[api.Usage](items)
		if err != nil {
			return err
		}
		return printUsage(w, dimensions, sums)
	}})
}

// printUsage prints sums as a table. If there are several, lines with their totals follow.
func printUsage(w io.Writer, dimensions []string, sums []api.Usage) error {
	var header []string
	for _, name := range append(slices.Clone(dimensions), "requests", "input", "cache read", "cache write", "output", "cost") {
		header = append(header, strings.ToUpper(name))
	}
	table := newTable(w, header...)
	for i := range sums {
		var row []string
		for _, name := range dimensions {
			row = append(row, columnOf(name)(&sums[i]))
		}
		table.row(append(row, cellsOf(&sums[i])...)...)
	}
	if len(sums) > 1 && len(dimensions) > 0 {
		for _, total := range totals(sums) {
			row := make([]string, len(dimensions))
			row[0] = "total"
			table.row(append(row, cellsOf(&total)...)...)
		}
	}
	return table.Flush()
}

// cellsOf returns the cells of the counts and the cost.
func cellsOf(u *api.Usage) (cells []string) {
	for _, n := range []int64{u.Requests, u.Input, u.CacheRead, u.CacheWrite, u.Output} {
		cells = append(cells, strconv.FormatInt(n, 10))
	}
	return append(cells, costOf(u))
}

// totals returns the totals of sums by currency, in the order of the currencies. Sums without
// a currency, such as those of refused requests, belong to the only currency, if there is
// one. A call of unknown cost may be of any currency: if a sum without a currency is a lower
// bound, all totals are.
func totals(sums []api.Usage) (all []api.Usage) {
	unknown := false
	for i := range sums {
		sum := &sums[i]
		unknown = unknown || sum.Floor && sum.Currency == ""
		n, known := slices.BinarySearchFunc(all, sum.Currency, func(total api.Usage, currency string) int {
			return strings.Compare(total.Currency, currency)
		})
		if !known {
			all = slices.Insert(all, n, api.Usage{Currency: sum.Currency})
		}
		add(&all[n], sum)
	}
	for i := range all {
		all[i].Floor = all[i].Floor || unknown
	}
	if len(all) == 2 && all[0].Currency == "" {
		add(&all[1], &all[0])
		return all[1:]
	}
	return all
}

// add adds a sum to a total.
func add(total, sum *api.Usage) {
	total.Requests += sum.Requests
	total.Input += sum.Input
	total.CacheRead += sum.CacheRead
	total.CacheWrite += sum.CacheWrite
	total.Output += sum.Output
	total.CostMicro += sum.CostMicro
	total.Floor = total.Floor || sum.Floor
}

// costOf returns the cost as a text for operators, with "at least" if some cost is unknown.
func costOf(u *api.Usage) string {
	known := amount(u.CostMicro, u.Currency)
	switch {
	case u.Floor && u.CostMicro == 0:
		return "unknown"
	case u.Floor:
		return "at least " + known
	case u.CostMicro == 0:
		return "0"
	}
	return known
}

// amount returns an amount of money as a text for operators.
func amount(micro int64, currency string) string {
	return fmt.Sprintf("%d.%06d %s", micro/1_000_000, micro%1_000_000, currency)
}

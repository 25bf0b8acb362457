package command

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

const usagePath = "/ai_gateway/usage"

// usage is a sum in an answer of the admin API.
type usage struct {
	From     string `json:"from"`
	Key      string `json:"key"`
	User     string `json:"user"`
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Upstream string `json:"upstream_model"`
	Outcome  string `json:"outcome"`

	Requests   int64  `json:"requests"`
	Input      int64  `json:"input_tokens"`
	CacheRead  int64  `json:"cache_read_tokens"`
	CacheWrite int64  `json:"cache_write_tokens"`
	Output     int64  `json:"output_tokens"`
	CostMicro  int64  `json:"cost_micro"`
	Currency   string `json:"currency"`
	Floor      bool   `json:"floor"`
}

// columns are the columns of the dimensions of usage, by their names.
var columns = map[string]func(*usage) string{
	"hour":           func(u *usage) string { return u.From },
	"day":            func(u *usage) string { return strings.SplitN(u.From, "T", 2)[0] },
	"month":          func(u *usage) string { return u.From[:min(len("2006-01"), len(u.From))] },
	"key":            func(u *usage) string { return u.Key },
	"user":           func(u *usage) string { return u.User },
	"model":          func(u *usage) string { return u.Model },
	"provider":       func(u *usage) string { return u.Provider },
	"upstream_model": func(u *usage) string { return u.Upstream },
	"outcome":        func(u *usage) string { return u.Outcome },
}

// usageCommand returns the command caddy ai-gateway usage.
func usageCommand() *cobra.Command {
	cmd := withAdmin(&cobra.Command{Use: "usage", Short: "Shows the requests, tokens and costs in the ledger", Args: cobra.NoArgs}, showUsage)
	addStoreFlags(cmd)
	cmd.Flags().StringSliceP("by", "", []string{"day", "model"}, "Dimensions to group by: hour, day or month, key, user, model, provider, upstream_model, outcome")
	cmd.Flags().StringP("from", "", "", "First day, YYYY-MM-DD, or RFC 3339 time (default 30 days ago)")
	cmd.Flags().StringP("to", "", "", "Day or time before which requests count (default now)")
	cmd.Flags().StringP("user", "u", "", "Name of the user (default all)")
	cmd.Flags().StringP("key", "k", "", "ID of the key (default all)")
	cmd.AddCommand(repriceCommand())
	return cmd
}

// showUsage reads all pages of sums, and prints them as a table.
func showUsage(cmd *cobra.Command, a admin, _ []string) error {
	by, _ := cmd.Flags().GetStringSlice("by")
	query := url.Values{"by": {strings.Join(by, ",")}}
	for _, name := range []string{"from", "to", "user", "key"} {
		value, _ := cmd.Flags().GetString(name)
		query.Set(name, value)
	}
	var sums []usage
	for {
		var page struct {
			Items []usage
			Next  string
		}
		if err := call(a, http.MethodGet, usagePath+"?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		sums = append(sums, page.Items...)
		if page.Next == "" {
			return printUsage(cmd.OutOrStdout(), by, sums)
		}
		query.Set("after", page.Next)
	}
}

func printUsage(out io.Writer, by []string, sums []usage) error {
	var header []string
	for _, name := range append(slices.Clone(by), "requests", "input", "cached", "output", "cost") {
		header = append(header, strings.ToUpper(name))
	}
	table := newTable(out, header...)
	for i := range sums {
		u := &sums[i]
		var row []string
		for _, name := range by {
			row = append(row, columns[name](u))
		}
		for _, n := range []int64{u.Requests, u.Input + u.CacheWrite, u.CacheRead, u.Output} {
			row = append(row, strconv.FormatInt(n, 10))
		}
		table.row(append(row, u.cost())...)
	}
	return table.Flush()
}

// cost returns the cost as a text for operators, with "at least" if some cost is unknown.
func (u *usage) cost() string {
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

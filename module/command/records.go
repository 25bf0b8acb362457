package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const recordsPath = apiPath + "records"

// unitsOf returns what a call is charged for beside tokens, such as "images: 2, searches: 1".
func unitsOf(c *api.Call) string {
	var some []string
	for _, unit := range [...]struct {
		n    int64
		name string
	}{{c.Images, "images"}, {c.Seconds, "seconds"}, {c.Characters, "characters"}, {c.Queries, "queries"}, {c.Searches, "searches"}} {
		if unit.n > 0 {
			some = append(some, fmt.Sprintf("%s: %d", unit.name, unit.n))
		}
	}
	return strings.Join(some, ", ")
}

// recordFlags are the flags that only have a meaning with --records.
var recordFlags = slices.Concat(recordFilters, []string{"limit"})

// recordFilters are those of them that are parameters of the API.
var recordFilters = []string{
	"model", "outcome", "request", "provider", "upstream-model", "client-format", "status", "stream", "min-duration-ms", "min-cost-micro", "sort",
}

func addRecordFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolP("records", "r", false, "Print single records instead of sums, the newest first")
	flags.StringP("model", "m", "", "With --records: the client's name of the model (default all)")
	flags.StringP("outcome", "", "", "With --records: the outcome, such as answered or failed (default all)")
	flags.StringP("request", "", "", "With --records: the id of the request (default all)")
	flags.StringP("provider", "", "", "With --records: the provider of a call (default all)")
	flags.StringP("upstream-model", "", "", "With --records: the provider's name of the model of a call (default all)")
	flags.StringP("client-format", "", "", "With --records: the format of the client (default all)")
	flags.StringP("status", "", "", "With --records: the status (default all)")
	flags.StringP("stream", "", "", "With --records: true for streams, false for others (default all)")
	flags.StringP("min-duration-ms", "", "", "With --records: the shortest duration in milliseconds (default all)")
	flags.StringP("min-cost-micro", "", "", "With --records: the lowest cost in millionths of a unit of the currency (default all)")
	flags.StringP("sort", "", "", "With --records: time, duration, first_byte or cost (default time)")
	flags.IntP("limit", "l", 100, "With --records: the largest number of records, 0 for all; --csv prints all")
	cmd.MarkFlagsMutuallyExclusive("records", "by")
}

// showRecords prints single records.
func showRecords(cmd *cobra.Command, a admin) error {
	most, _ := cmd.Flags().GetInt("limit")
	if most < 0 {
		return errors.New("--limit must be a positive number, or 0")
	}
	query := flagQuery(cmd, slices.Concat([]string{"from", "to", "user", "key", "team", "tag", "customer"}, recordFilters)...)
	query.Set("limit", strconv.Itoa(cmp.Or(most, 1000)))
	return printList(cmd, a, list{path: recordsPath, query: query, most: most, table: printRecords})
}

// printRecords prints a line for each call of the records, and one for each record without
// calls.
func printRecords(w io.Writer, items []json.RawMessage) error {
	records, err := decoded[api.Record](items)
	if err != nil {
		return err
	}
	table := newTable(w, "TIME", "REQUEST", "KEY", "MODEL", "OUTCOME", "STATUS", "PROVIDER", "UPSTREAM", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "UNITS", "COST", "PRICE")
	for i := range records {
		r := &records[i]
		begin := []string{r.Admitted, r.Request, r.Key, r.Model, r.Outcome, strconv.Itoa(r.Status)}
		for i := range r.Calls {
			c := &r.Calls[i]
			cost := fmt.Sprintf("%d.%09d %s", c.CostNano/1e9, c.CostNano%1e9, c.Currency)
			switch {
			case c.Source == "none" && c.CostNano == 0: // an imported sum has no source, and a cost
				cost = "0"
			case c.CostSource == "unknown":
				cost = "unknown"
			case c.CostSource == "floor":
				cost = "at least " + cost
			}
			row := append(begin[:len(begin):len(begin)], c.Provider, c.Model)
			for _, n := range []int64{c.Input, c.CacheRead, c.CacheWrite, c.Output} {
				row = append(row, strconv.FormatInt(n, 10))
			}
			price := c.Price
			if c.CostSource == "provider" {
				price = "stated by the provider"
			}
			table.row(append(row, unitsOf(c), cost, price)...)
		}
		if len(r.Calls) == 0 {
			table.row(append(begin, "", "", "", "", "", "", "", "0", "")...)
		}
	}
	return table.Flush()
}

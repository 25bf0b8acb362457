package command

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

const limitsPath = apiPath + "limits"

// limitsCommand returns the command caddy ai-gateway limits.
func limitsCommand() *cobra.Command {
	cmd := withRunning(&cobra.Command{
		Use: "limits", Short: "Shows what is used and left of the limits of a running gateway", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, a admin, _ []string) error {
		query := flagQuery(cmd, "user", "key", "customer")
		limit, _ := cmd.Flags().GetString("limit")
		query.Set("name", limit) // limit is the size of a page there
		return printList(cmd, a, list{path: limitsPath, query: query, table: printLimits})
	})
	cmd.Flags().StringP("user", "u", "", "Name of the user, whose limits and keys to show (default all)")
	cmd.Flags().StringP("key", "k", "", "ID of a key, or number of a key of a user, whose limits to show, those of its user, group and gateway included (default all)")
	cmd.Flags().StringP("customer", "", "", "With --key: the customer whose limits to show, too")
	cmd.Flags().StringP("limit", "l", "", "Name of the limit (default all)")
	cmd.Flags().BoolP("json", "", false, "Print JSON instead of a table")
	return cmd
}

// printLimits prints states as a table.
func printLimits(w io.Writer, items []json.RawMessage) error {
	states, err := decoded[aigateway.LimitState](items)
	if err != nil {
		return err
	}
	table := newTable(w, "LIMIT", "PER", "SUBJECT", "RULE", "AMOUNT", "USED", "RESERVED", "LEFT", "RENEWS")
	for i := range states {
		s := &states[i]
		row := []string{s.Limit, string(s.Per), s.Subject, ruleOf(s)}
		for _, n := range []int64{s.Amount, s.Used, s.Reserved, s.Left} {
			row = append(row, numberOf(s, n))
		}
		renews := ""
		if s.Renews != nil {
			renews = s.Renews.Format(time.RFC3339)
		}
		table.row(append(row, renews)...)
	}
	return table.Flush()
}

// ruleOf returns the rule of a state with its period: "requests/1m".
func ruleOf(s *aigateway.LimitState) string {
	text := s.Rule
	if s.Period != "" {
		text += "/" + s.Period
	}
	if s.Soft {
		text += " soft"
	}
	return text
}

// numberOf returns a number of the rule of a state. Those of budgets are amounts of money.
func numberOf(s *aigateway.LimitState, n int64) string {
	if s.Currency == "" {
		return strconv.FormatInt(n, 10)
	}
	return amount(n, s.Currency)
}

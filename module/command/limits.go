package command

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/spf13/cobra"
)

const limitsPath = apiPath + "limits"

// limitState is the state of a rule of a limit in an answer of the admin API.
type limitState struct {
	Limit    string `json:"limit"`
	Per      string `json:"per"`
	Subject  string `json:"subject"`
	Rule     string `json:"rule"`
	Period   string `json:"period"`
	Amount   int64  `json:"amount"`
	Used     int64  `json:"used"`
	Reserved int64  `json:"reserved"`
	Left     int64  `json:"left"`
	Currency string `json:"currency"`
	Soft     bool   `json:"soft"`
	Renews   string `json:"renews_at"`
}

// limitsCommand returns the command caddy ai-gateway limits.
func limitsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "limits", Short: "Shows what is used and left of the limits of a running gateway", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := runningAddress(cmd)
			if err != nil {
				return err
			}
			query := flagQuery(cmd, "user", "key", "customer")
			limit, _ := cmd.Flags().GetString("limit")
			query.Set("name", limit) // limit is the size of a page there
			return printList(cmd, remote{address}, list{path: limitsPath, query: query, table: printLimits})
		},
	}
	addRunningFlags(cmd)
	cmd.Flags().StringP("user", "u", "", "Name of the user, whose limits and keys to show (default all)")
	cmd.Flags().StringP("key", "k", "", "ID of the key, whose limits to show, those of its user, group and gateway included (default all)")
	cmd.Flags().StringP("customer", "", "", "With --key: the customer whose limits to show, too")
	cmd.Flags().StringP("limit", "l", "", "Name of the limit (default all)")
	cmd.Flags().BoolP("json", "", false, "Print JSON instead of a table")
	return cmd
}

// printLimits prints states as a table.
func printLimits(out io.Writer, items []json.RawMessage) error {
	states, err := decoded[limitState](items)
	if err != nil {
		return err
	}
	table := newTable(out, "LIMIT", "PER", "SUBJECT", "RULE", "AMOUNT", "USED", "RESERVED", "LEFT", "RENEWS")
	for i := range states {
		s := &states[i]
		row := []string{s.Limit, s.Per, s.Subject, s.rule()}
		for _, n := range []int64{s.Amount, s.Used, s.Reserved, s.Left} {
			row = append(row, s.number(n))
		}
		table.row(append(row, s.Renews)...)
	}
	return table.Flush()
}

// rule returns the rule with its period: "requests/1m".
func (s *limitState) rule() string {
	text := s.Rule
	if s.Period != "" {
		text += "/" + s.Period
	}
	if s.Soft {
		text += " soft"
	}
	return text
}

// number returns a number of the rule. Those of budgets are amounts of money.
func (s *limitState) number(n int64) string {
	if s.Currency == "" {
		return strconv.FormatInt(n, 10)
	}
	return amount(n, s.Currency)
}

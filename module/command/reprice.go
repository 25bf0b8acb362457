package command

import (
	"fmt"
	"io"
	"net/http"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const repricePath = apiPath + "usage/reprice"

// repriceCommand returns the command caddy ai-gateway usage reprice.
func repriceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reprice", Short: "Corrects costs in the ledger by the prices of a running gateway", Args: cobra.NoArgs,
		Long: `
Recomputes the costs of records from the prices of the running configuration, for the
time at which each request was admitted, and prints the changes. The command does not
change records: it adds corrections to the ledger, which the sums include. A second run
changes nothing. Calls whose price is not known keep their cost.`,
		RunE: reprice,
	}
	cmd.Flags().BoolP("dry-run", "n", false, "Print the changes without making them")
	cmd.Flags().StringP("from", "", "", "First day, YYYY-MM-DD in UTC, or RFC 3339 time (default 30 days ago)")
	cmd.Flags().StringP("to", "", "", "Day or time before which records count (default now)")
	cmd.Flags().StringP("model", "m", "", "Pattern of the providers' own names of models, such as claude-* (default all)")
	cmd.Flags().StringP("provider", "p", "", "Name of the provider (default all)")
	return cmd
}

func reprice(cmd *cobra.Command, _ []string) error {
	dryRun, _ := cmd.Flags().GetBool("dry-run")
	request := map[string]any{"dry_run": dryRun}
	for _, name := range []string{"model", "provider"} {
		request[name], _ = cmd.Flags().GetString(name)
	}
	for _, name := range []string{"from", "to"} {
		if text, _ := cmd.Flags().GetString(name); text != "" {
			moment, err := parseMoment(text)
			if err != nil {
				return fmt.Errorf("--%s %w", name, err)
			}
			request[name] = moment
		}
	}
	address, err := runningAddress(cmd)
	if err != nil {
		return err
	}
	var answer api.Page[api.Repriced]
	if err := call(remote{address}, http.MethodPost, repricePath, request, &answer); err != nil {
		return err
	}
	return printRepriced(cmd.OutOrStdout(), answer.Items, dryRun)
}

// parseMoment parses an RFC 3339 time, or a date, which means its start in UTC.
func parseMoment(text string) (time.Time, error) {
	if moment, err := time.Parse(time.DateOnly, text); err == nil {
		return moment, nil
	}
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return moment, fmt.Errorf("must be a date, YYYY-MM-DD, or an RFC 3339 time, not '%s'", text)
	}
	return moment, nil
}

// runningAddress returns the address of the admin API of the running Caddy that the
// flags select.
func runningAddress(cmd *cobra.Command) (string, error) {
	path, _ := cmd.Flags().GetString("config")
	address, _ := cmd.Flags().GetString("address")
	if address != "" || path == "" {
		return caddycmd.DetermineAdminAPIAddress(address, nil, "", "")
	}
	config, err := selectedConfig(cmd)
	if err != nil {
		return "", err
	}
	return caddycmd.DetermineAdminAPIAddress("", config, path, "")
}

func printRepriced(w io.Writer, items []api.Repriced, dryRun bool) error {
	if len(items) == 0 {
		_, err := fmt.Fprintln(w, "No cost changes.")
		return err
	}
	table := newTable(w, "PROVIDER", "MODEL", "CALLS", "OLD PRICE", "OLD COST", "NEW PRICE", "NEW COST")
	for _, r := range items {
		oldPrice, oldCost := "unknown", "unknown"
		if r.OldPrice != "" {
			oldPrice, oldCost = r.OldPrice, amount(r.OldMicro, r.OldCurrency)
		}
		table.row(r.Provider, r.Model, fmt.Sprint(r.Calls), oldPrice, oldCost, r.NewPrice, amount(r.NewMicro, r.NewCurrency))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, changesOf(items, dryRun)); err != nil || !dryRun {
		return err
	}
	_, err := fmt.Fprintln(w, "Nothing has changed. Without --dry-run, the command adds these corrections to the ledger.")
	return err
}

// changesOf returns a sentence with the number of calls whose known cost changes, apart from
// the calls whose cost was unknown: prices without dates change the costs of all time.
func changesOf(items []api.Repriced, dryRun bool) string {
	var known, unknown int64
	for _, r := range items {
		if r.OldPrice == "" {
			unknown += r.Calls
		} else {
			known += r.Calls
		}
	}
	changed := "changed"
	if dryRun {
		changed = "would change"
	}
	return fmt.Sprintf("Calls whose cost %s: %d with a known price, %d without one.", changed, known, unknown)
}

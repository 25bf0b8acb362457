package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

const (
	targetsPath = apiPath + "targets"
	explainPath = apiPath + "explain"
)

// targetsCommand returns the command caddy ai-gateway targets.
func targetsCommand() *cobra.Command {
	return withRunning(&cobra.Command{
		Use: "targets", Short: "Shows which targets of a running gateway rest, and what runs there", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, a admin, _ []string) error {
		targets, err := listed[api.Target](a, targetsPath, make(url.Values))
		if err != nil {
			return err
		}
		return printTargets(cmd.OutOrStdout(), targets)
	})
}

// explainCommand returns the command caddy ai-gateway explain.
func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain <model>", Short: "Explains where a running gateway sends requests for a model", Args: cobra.ExactArgs(1),
		Long: `
Prints the targets of a model in the order in which the gateway tries them: their state,
the format of the request that they get, their price, and how many fields of requests
the translation leaves out or refuses. --fields lists these fields. Targets that share the requests by their weights
are in the order of one session; other sessions begin with another target.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"model": args}
			for _, name := range []string{"format", "key", "customer", "session", "site"} {
				value, _ := cmd.Flags().GetString(name)
				query.Set(name, value)
			}
			raw, err := explained(cmd, query)
			if err != nil {
				return err
			}
			if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", raw)
				return err
			}
			var answer api.Explanation
			if err := json.Unmarshal(raw, &answer); err != nil {
				return fmt.Errorf("reading the answer of the admin API: %w", err)
			}
			fields, _ := cmd.Flags().GetBool("fields")
			return printExplanation(cmd.OutOrStdout(), &answer, fields)
		},
	}
	addRunningFlags(cmd)
	cmd.Flags().StringP("format", "f", formats.Unspecified().String(), "Format of the client: "+formatNames())
	cmd.Flags().StringP("key", "k", "", "Name of a key of the configuration, or number of a key of a user, whose permission and limits to show")
	cmd.Flags().StringP("customer", "", "", "Customer of the requests, whose share of a split to show")
	cmd.Flags().StringP("session", "", "", "Session of the requests, as their header or field states it")
	cmd.Flags().StringP("site", "", "", "Host or address of a site (default the first one with the key whose model has just this name, else with the model)")
	cmd.Flags().StringP("body", "b", "", "File with the body of a request, which decides about the conditions of targets; - for the standard input")
	cmd.Flags().BoolP("fields", "", false, "List the fields of requests that a translation leaves out or refuses")
	cmd.Flags().BoolP("json", "", false, "Print the answer of the admin API as JSON")
	return cmd
}

// explained returns the answer of the admin API about a model. The flag body names the file with an
// example of a request, "-" for the standard input.
func explained(cmd *cobra.Command, query url.Values) ([]byte, error) {
	address, err := runningAddress(cmd)
	if err != nil {
		return nil, err
	}
	method, example := http.MethodGet, []byte(nil)
	switch name, _ := cmd.Flags().GetString("body"); name {
	case "":
	case "-":
		method = http.MethodPost
		example, err = io.ReadAll(cmd.InOrStdin())
	default:
		method = http.MethodPost
		example, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the example: %w", err)
	}
	return remote{address}.send(method, explainPath+"?"+query.Encode(), example)
}

// formatNames returns the names of the formats, for a help text.
func formatNames() string {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.String())
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// withRunning makes a command that needs a running gateway.
func withRunning(cmd *cobra.Command, run func(*cobra.Command, admin, []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		address, err := runningAddress(cmd)
		if err != nil {
			return err
		}
		return run(cmd, remote{address}, args)
	}
	addRunningFlags(cmd)
	return cmd
}

// addRunningFlags adds the flags that select a running Caddy.
func addRunningFlags(cmd *cobra.Command) {
	cmd.Flags().StringP("config", "c", "", "Configuration with the address of the admin API")
	cmd.Flags().StringP("adapter", "a", "", "Name of the adapter for --config")
	cmd.Flags().StringP("address", "", "", "Address of the admin API of a running Caddy")
}

// callRunning sends a GET request to the admin API of the selected Caddy, and decodes
// its answer.
func callRunning(cmd *cobra.Command, path string, answer any) error {
	address, err := runningAddress(cmd)
	if err != nil {
		return err
	}
	return call(remote{address}, http.MethodGet, path, nil, answer)
}

func printTargets(w io.Writer, targets []api.Target) error {
	table := newTable(w, "PROVIDER", "MODEL", "API KEY", "RUNNING", "STATE")
	for i := range targets {
		t := &targets[i]
		table.row(t.Provider, t.Upstream, t.APIKey, fmt.Sprint(t.Running), stateOf(t))
	}
	return table.Flush()
}

// unmetOf returns what follows a condition that an example does not meet.
func unmetOf(t *api.Choice) string {
	if t.Unmet {
		return " (not for this request)"
	}
	return ""
}

// printExplanation prints an explanation. fields selects the names of lost fields, and not
// only their number.
func printExplanation(w io.Writer, e *api.Explanation, fields bool) error {
	order := ""
	if e.Order != "" {
		order = ", ordered by " + e.Order
	}
	if e.SplitBy != "" {
		order = ", split by " + e.SplitBy
	}
	place := ""
	if len(e.Site.Addresses) > 0 {
		place = " at " + strings.Join(e.Site.Addresses, ", ")
	}
	fmt.Fprintf(w, "Requests for %s%s in the %s format, by the model %s, ask at most %d of%s:\n", e.Name, place, e.Format, e.Pattern, e.Attempts, order)
	for i := range e.Targets {
		t := &e.Targets[i]
		name := strings.TrimSuffix(t.Provider+"/"+t.Upstream+" "+t.APIKey, " ")
		fmt.Fprintf(w, "%d. %s: %s%s, %s\n   price: %s\n", i+1, name, stateOf(&t.Target), shareOf(t), wayOf(t), cmp.Or(t.Price, "unknown"))
		if t.Measured != "" {
			fmt.Fprintf(w, "   %s: %s\n", e.Order, t.Measured)
		}
		if t.Condition != "" {
			fmt.Fprintf(w, "   if: %s%s\n", t.Condition, unmetOf(t))
		}
		if t.PassedOver != "" {
			fmt.Fprintf(w, "   passed over: %s\n", plain(t.PassedOver))
		}
		if t.Queue != "" {
			fmt.Fprintf(w, "   queue: %s, %d waiting\n", t.Queue, t.Waiting)
		}
		if t.Facts != nil {
			fmt.Fprintf(w, "   known: %s\n", knownOf(t.Facts))
		}
		for _, warning := range t.Warnings {
			fmt.Fprintf(w, "   warning: %s\n", plain(warning))
		}
		printFields(w, "left out by the preset", t.LeftOut)
		if t.Counting != "" {
			fmt.Fprintf(w, "   count of tokens: %s\n", t.Counting)
		}
		if fields {
			printLosses(w, e.Targets[:i], t)
		} else if lost := lossesOf(t); lost != "" {
			fmt.Fprintf(w, "   %s\n", lost)
		}
	}
	if e.Choice != "" {
		fmt.Fprintln(w, "The first target is asked by:", e.Choice)
	}
	if e.Mirror != "" {
		fmt.Fprintln(w, "Mirror:", e.Mirror)
	}
	if e.Hedge != "" {
		fmt.Fprintln(w, "A second target is called as well after:", e.Hedge)
	}
	if e.Key != nil {
		fmt.Fprintln(w, keyLine(e.Key))
	}
	if len(e.Site.Others) > 0 {
		fmt.Fprintln(w, "Other sites with the model, of which --site selects one:", strings.Join(e.Site.Others, ", "))
	}
	return nil
}

// knownOf returns the facts of a model as a text for operators, with the table that has them.
func knownOf(facts *api.Facts) string {
	var parts []string
	for _, column := range slices.Sorted(maps.Keys(facts.Values)) {
		parts = append(parts, column+" "+facts.Values[column])
	}
	table := "the table of the gateway"
	if facts.Own {
		table = "the catalog file"
	}
	return plain(strings.Join(parts, ", ") + "; " + strings.TrimSpace(table+" "+facts.AsOf))
}

// lossesOf returns what a translation loses as a text for operators, "" if it loses nothing.
func lossesOf(t *api.Choice) string {
	var parts []string
	if n := len(t.Refused); n > 0 {
		parts = append(parts, fmt.Sprintf("%d refused", n))
	}
	if n := len(t.Reported); n > 0 {
		parts = append(parts, fmt.Sprintf("%d left out and reported", n))
	}
	if len(parts) == 0 {
		return ""
	}
	return "fields of requests: " + strings.Join(parts, ", ") + "; --fields lists them"
}

// printLosses prints the fields that a translation leaves out or refuses, or the number
// of an earlier target that loses the same: there can be more than a hundred fields, and
// the API keys of a provider are targets of their own.
func printLosses(w io.Writer, earlier []api.Choice, t *api.Choice) {
	same := slices.IndexFunc(earlier, func(e api.Choice) bool {
		return slices.Equal(e.Reported, t.Reported) && slices.Equal(e.Refused, t.Refused)
	})
	if same >= 0 && len(t.Reported)+len(t.Refused) > 0 {
		fmt.Fprintf(w, "   left out and refused: as for target %d\n", same+1)
		return
	}
	printFields(w, "left out", t.Reported)
	printFields(w, "refused", t.Refused)
}

// printFields prints the names of fields within the width of a terminal.
func printFields(w io.Writer, title string, fields []string) {
	const width, indent = 80, "      "
	if len(fields) == 0 {
		return
	}
	line := fmt.Sprintf("   %s (%d):", title, len(fields))
	for i, field := range fields {
		if i < len(fields)-1 {
			field += ","
		}
		if len(line)+len(" ")+len(field) > width {
			fmt.Fprintln(w, line)
			line = indent[1:]
		}
		line += " " + field
	}
	fmt.Fprintln(w, line)
}

// stateOf returns the state of a target as a text for operators.
func stateOf(t *api.Target) string {
	switch {
	case t.RestEnd != nil:
		return t.State + " until " + t.RestEnd.Format(time.RFC3339) + ", " + t.Failure
	case t.Failure != "":
		return t.State + ", " + t.Failure
	}
	return t.State
}

// shareOf returns the share of a target in the requests as a text for operators, "" if the target gets
// all requests.
func shareOf(t *api.Choice) string {
	if t.Weight >= t.Total {
		return ""
	}
	return fmt.Sprintf(", gets %d of %d requests", t.Weight, t.Total)
}

// wayOf returns how a target gets requests, as a text for operators.
func wayOf(t *api.Choice) string {
	switch t.Lane {
	case "":
		return "passed over: requests cannot be translated"
	case "bytes":
		return "byte for byte"
	}
	return "translated to " + string(t.Format)
}

// keyLine returns the permission and the limits of a key as a text for operators.
func keyLine(key *api.ExplainedKey) string {
	if !key.Allowed {
		return "The key " + key.ID + " may not use the model: " + plain(key.Reason) + "."
	}
	line := "The key " + key.ID + " may use the model"
	var limits []string
	for _, l := range key.Limits {
		limits = append(limits, l.Name+" (per "+string(l.Scope)+": "+l.Rules+")")
	}
	if limits != nil {
		line += ", within the limits " + strings.Join(limits, ", ")
	}
	if key.Priority == "high" || key.Priority == "low" {
		line += ", with " + key.Priority + " priority in queues"
	}
	return line + "."
}

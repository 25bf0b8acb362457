package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

const (
	targetsPath = apiPath + "targets"
	explainPath = apiPath + "explain"
)

// target is a target in an answer of the admin API.
type target struct {
	Provider string   `json:"provider"`
	Upstream string   `json:"upstream_model"`
	APIKey   string   `json:"api_key"`
	Weight   int      `json:"weight"`
	Total    int      `json:"step_weight"`
	State    string   `json:"state"`
	Until    string   `json:"rest_until"`
	Failure  string   `json:"last_failure"`
	Running  int      `json:"running"`
	Format   string   `json:"format"`
	Lane     string   `json:"lane"`
	Price    string   `json:"price"`
	Reported []string `json:"reported"`
	Refused  []string `json:"refused"`
	LeftOut  []string `json:"left_out"`
	Counting string   `json:"count_tokens"`
}

// explanation is an answer of the admin API about a model.
type explanation struct {
	Model    string   `json:"model"`
	Pattern  string   `json:"pattern"`
	Format   string   `json:"format"`
	Attempts int      `json:"attempts"`
	Targets  []target `json:"targets"`
	Key      *struct {
		ID      string `json:"id"`
		Allowed bool   `json:"allowed"`
		Limits  []struct {
			Name  string `json:"name"`
			Per   string `json:"per"`
			Rules string `json:"rules"`
		} `json:"limits"`
	} `json:"key"`
}

// targetsCommand returns the command caddy ai-gateway targets.
func targetsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "targets", Short: "Shows which targets of a running gateway rest, and what runs there", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var answer struct{ Targets []target }
			if err := callRunning(cmd, targetsPath, &answer); err != nil {
				return err
			}
			return printTargets(cmd.OutOrStdout(), answer.Targets)
		},
	}
	addRunningFlags(cmd)
	return cmd
}

// explainCommand returns the command caddy ai-gateway explain.
func explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "explain MODEL", Short: "Explains where a running gateway sends requests for a model", Args: cobra.ExactArgs(1),
		Long: `
Prints the targets of a model in the order in which the gateway tries them: their state,
the format of the request that they get, their price, and how many fields of requests
the translation leaves out or refuses. --fields lists these fields. Targets that share the requests by their weights
are in the order of one session; other sessions begin with another target.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"model": args}
			for _, name := range []string{"format", "key"} {
				value, _ := cmd.Flags().GetString(name)
				query.Set(name, value)
			}
			var raw json.RawMessage
			if err := callRunning(cmd, explainPath+"?"+query.Encode(), &raw); err != nil {
				return err
			}
			if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", raw)
				return err
			}
			var answer explanation
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
	cmd.Flags().BoolP("fields", "", false, "List the fields of requests that a translation leaves out or refuses")
	cmd.Flags().BoolP("json", "", false, "Print the answer of the admin API as JSON")
	return cmd
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

// addRunningFlags adds the flags that select a running Caddy.
func addRunningFlags(cmd *cobra.Command) {
	cmd.Flags().StringP("config", "c", "", "Configuration with the address of the admin API")
	cmd.Flags().StringP("adapter", "a", "", "Name of the adapter for --config")
	cmd.Flags().StringP("address", "", "", "Address of the admin API of a running Caddy; doctor takes --url, that of the gateway")
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

func printTargets(out io.Writer, targets []target) error {
	table := newTable(out, "PROVIDER", "MODEL", "API KEY", "RUNNING", "STATE")
	for i := range targets {
		t := &targets[i]
		table.row(t.Provider, t.Upstream, t.APIKey, fmt.Sprint(t.Running), t.state())
	}
	return table.Flush()
}

// printExplanation prints an explanation. fields selects the names of lost fields, and not
// only their number.
func printExplanation(out io.Writer, e *explanation, fields bool) error {
	fmt.Fprintf(out, "Requests for %s in the %s format, by the model %s, ask at most %d of:\n", e.Model, e.Format, e.Pattern, e.Attempts)
	for i := range e.Targets {
		t := &e.Targets[i]
		name := strings.TrimSuffix(t.Provider+"/"+t.Upstream+" "+t.APIKey, " ")
		fmt.Fprintf(out, "%d. %s: %s%s, %s\n   price: %s\n", i+1, name, t.state(), t.share(), t.way(), cmp.Or(t.Price, "unknown"))
		printFields(out, "left out by the preset", t.LeftOut)
		if t.Counting != "" {
			fmt.Fprintf(out, "   count of tokens: %s\n", t.Counting)
		}
		if fields {
			printLosses(out, e.Targets[:i], t)
		} else if lost := t.losses(); lost != "" {
			fmt.Fprintf(out, "   %s\n", lost)
		}
	}
	if e.Key != nil {
		fmt.Fprintln(out, e.keyLine())
	}
	return nil
}

// losses returns what a translation loses as a text for operators, "" if it loses nothing.
func (t *target) losses() string {
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
func printLosses(out io.Writer, earlier []target, t *target) {
	same := slices.IndexFunc(earlier, func(e target) bool {
		return slices.Equal(e.Reported, t.Reported) && slices.Equal(e.Refused, t.Refused)
	})
	if same >= 0 && len(t.Reported)+len(t.Refused) > 0 {
		fmt.Fprintf(out, "   left out and refused: as for target %d\n", same+1)
		return
	}
	printFields(out, "left out", t.Reported)
	printFields(out, "refused", t.Refused)
}

// printFields prints the names of fields within the width of a terminal.
func printFields(out io.Writer, title string, fields []string) {
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
			fmt.Fprintln(out, line)
			line = indent[1:]
		}
		line += " " + field
	}
	fmt.Fprintln(out, line)
}

// state returns the state as a text for operators.
func (t *target) state() string {
	switch {
	case t.Until != "":
		return t.State + " until " + t.Until + ", " + t.Failure
	case t.Failure != "":
		return t.State + ", " + t.Failure
	}
	return t.State
}

// share returns the share of the requests as a text for operators, "" if the target gets
// all requests.
func (t *target) share() string {
	if t.Weight >= t.Total {
		return ""
	}
	return fmt.Sprintf(", gets %d of %d requests", t.Weight, t.Total)
}

// way returns how the target gets requests, as a text for operators.
func (t *target) way() string {
	switch t.Lane {
	case "":
		return "passed over: requests cannot be translated"
	case "bytes":
		return "byte for byte"
	}
	return "translated to " + t.Format
}

// keyLine returns the permission and the limits of the key as a text for operators.
func (e *explanation) keyLine() string {
	line := "The key " + e.Key.ID + " may use the model"
	if !e.Key.Allowed {
		line = "The key " + e.Key.ID + " may not use the model"
	}
	separator := ", within the limits "
	for _, l := range e.Key.Limits {
		line += separator + l.Name + " (per " + l.Per + ": " + l.Rules + ")"
		separator = ", "
	}
	return line + "."
}

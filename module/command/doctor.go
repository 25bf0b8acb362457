package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/doctor"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

var (
	errUnhealthy = errors.New("some probes are broken")
	errNoModels  = errors.New("the gateway lists no models for the key")
)

// doctorCommand returns the command caddy ai-gateway doctor.
func doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [<model>...]",
		Short: "Tests the models and MCP servers of a running gateway as clients use them",
		Long:  doctorHelp,
		RunE: func(cmd *cobra.Command, names []string) error {
			err := examine(cmd, names)
			if err == nil || errors.Is(err, errUnhealthy) {
				return err
			}
			return notExamined(cmd, err)
		},
	}
	cmd.SetFlagErrorFunc(notExamined)
	cmd.Flags().StringP("url", "", "http://localhost:8080", "Address of the gateway, as clients use it without /v1; --address is that of the admin API")
	cmd.Flags().StringP("key", "", "{env.GATEWAY_KEY}", "Key of a client: a reference to the environment or to a file")
	cmd.Flags().StringP("address", "", "", "Address of the admin API of the gateway, such as localhost:2019: shows what is known of each target, too")
	cmd.Flags().BoolP("json", "", false, "Print the results as JSON, one per line")
	cmd.Flags().BoolP("dry-run", "", false, "Print the planned probes, and send no request to a model")
	return cmd
}

const doctorHelp = `
Sends requests to each model of the gateway, or only to the named models. The probes test
a text, a stream, a system prompt, sampling, successive turns, a tool call, an image, an
error, and a count of tokens, as a client of each format. This tests a provider in its own
formats and with translation.

The table shows the result of each probe and the tokens that it used. For a failure, it
shows a line for the provider's block that fixes it, if one is known. A feature that a
model does not support is not broken.

An MCP server that the key may use is tested as mcp/<name>: whether it can be reached,
with which version of the protocol, whether it accepts the gateway's credential, and how
many tools the key sees. No tool is called.

With --address, the admin API explains the targets of each model behind the table: their
price, the facts of the model with the table and the date that they come from, and
warnings, such as an announced end or a price that is missing. With --json, a line for each
model follows the results, as GET /api/v1/explain has it.

The exit status is 0 if no probe is broken, 1 if one is, and 2 if the models could not be
tested: the gateway does not answer, refuses the key, or has no model for it.`

// exitNotExamined is the exit status for models that could not be tested.
const exitNotExamined = 2

// notExamined returns an error with that exit status, which only Caddy's wrapper can
// make. It prints err in place of the wrapper, which would log err as JSON, beside the
// line for other errors of this command.
func notExamined(cmd *cobra.Command, err error) error {
	cmd.PrintErrln("Error:", err)
	cmd.SilenceErrors = true
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitNotExamined, nil })(cmd, nil)
}

// examine runs the probes, and prints their results.
func examine(cmd *cobra.Command, names []string) error {
	g, err := gatewayOf(cmd)
	if err != nil {
		return err
	}
	models, err := g.Models(cmd.Context(), names)
	if err == nil && len(models) == 0 {
		err = errNoModels
	}
	if err != nil {
		return err
	}
	asJSON, _ := cmd.Flags().GetBool("json")
	if dry, _ := cmd.Flags().GetBool("dry-run"); dry {
		return errors.Join(printPlan(cmd.OutOrStdout(), models), explain(cmd, models, false))
	}
	var results []doctor.Result
	for _, model := range models {
		doctor.Examine(cmd.Context(), g, model, func(r doctor.Result) { results = append(results, r) })
	}
	if asJSON {
		err = printResultsAsJSON(cmd.OutOrStdout(), results)
	} else {
		err = printResults(cmd.OutOrStdout(), results)
	}
	err = errors.Join(err, explain(cmd, models, asJSON))
	if err == nil && !doctor.Healthy(results) {
		err = errUnhealthy
	}
	return err
}

// explain prints the targets of models, if the address of the admin API is set.
func explain(cmd *cobra.Command, models []doctor.Model, asJSON bool) error {
	if address, _ := cmd.Flags().GetString("address"); address == "" {
		return nil
	}
	for _, model := range models {
		if model.IsServer() {
			continue
		}
		e, err := explainAtSite(cmd, model.Name)
		if err != nil {
			return err
		}
		if asJSON {
			if err := json.NewEncoder(cmd.OutOrStdout()).Encode(e); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(cmd.OutOrStdout())
		if err := printExplanation(cmd.OutOrStdout(), e, false); err != nil {
			return err
		}
	}
	return nil
}

// explainAtSite returns the targets of a model at the site with the address of the flag url, or at any site if
// none has it, such as behind a proxy.
func explainAtSite(cmd *cobra.Command, model string) (*api.Explanation, error) {
	address, _ := cmd.Flags().GetString("url")
	query, e := url.Values{"model": {model}}, new(api.Explanation)
	if parsed, err := url.Parse(address); err == nil {
		query.Set("site", parsed.Host)
		if callRunning(cmd, explainPath+"?"+query.Encode(), e) == nil {
			return e, nil
		}
		query.Del("site")
	}
	return e, callRunning(cmd, explainPath+"?"+query.Encode(), e)
}

// gatewayOf returns the gateway that the flags select.
func gatewayOf(cmd *cobra.Command) (g doctor.Gateway, err error) {
	address, _ := cmd.Flags().GetString("url")
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || strings.Trim(parsed.Path, "/") != "" {
		return g, errors.New("--url must be the address of a gateway, such as https://ai.example.com, without a path")
	}
	reference, _ := cmd.Flags().GetString("key")
	if !strings.HasPrefix(reference, "{") {
		return g, errors.New("--key must be a reference, such as {env.GATEWAY_KEY} or {file./run/secrets/key}, because other users of the machine can read arguments")
	}
	g = doctor.Gateway{URL: address, Key: strings.TrimSpace(caddy.NewReplacer().ReplaceAll(reference, ""))}
	if g.Key == "" {
		return g, fmt.Errorf("--key: %s is empty", reference)
	}
	return g, nil
}

func printPlan(w io.Writer, models []doctor.Model) error {
	for _, model := range models {
		probes, formats := doctor.Probes(), doctor.Formats()
		if model.IsServer() {
			probes, formats = doctor.ServerProbes(), []string{doctor.ServerFormat}
		}
		if _, err := fmt.Fprintf(w, "%s: %s; as a client of %s\n", plain(model.Name), strings.Join(probes, ", "), strings.Join(formats, ", ")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "At most %d requests, with answers of at most 64 tokens.\n", doctor.MostRequests*len(models))
	return err
}

func printResultsAsJSON(w io.Writer, results []doctor.Result) error {
	encoder := json.NewEncoder(w)
	for _, r := range results {
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func printResults(w io.Writer, results []doctor.Result) error {
	table := newTable(w, "MODEL", "CLIENT", "PROBE", "STATE", "INPUT", "OUTPUT", "REASON")
	for _, r := range results {
		table.row(r.Model, r.Format, r.Probe, string(r.State), fmt.Sprint(r.Input), fmt.Sprint(r.Output), cmp.Or(r.Reason, r.Found))
		if r.Advice != "" {
			table.row("", "", "", "", "", "", "try: "+r.Advice)
		}
	}
	return table.Flush()
}

package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// addRuleFlags adds the flags of rules, with the words of the Caddyfile. whose is what they bound.
func addRuleFlags(cmd *cobra.Command, whose string) *cobra.Command {
	cmd.Flags().StringP("requests", "", "", "Rate of requests of "+whose+", such as 60/1m (default none)")
	cmd.Flags().StringP("tokens", "", "", "Rate of tokens, such as 400000/1d (default none)")
	cmd.Flags().Int64P("concurrent", "", 0, "Number of requests that may run at once (default any)")
	cmd.Flags().StringP("budget", "", "", `Budget, such as 500/month or "500/month EUR soft" (default none)`)
	cmd.Flags().StringP("priority", "", "", "Priority of the requests in queues: high, normal or low (default that of the limits around it)")
	return cmd
}

// changedFields returns the members of a body for the flags that are set, of those that cmd has:
// texts, lists and rules.
func changedFields(cmd *cobra.Command, texts ...string) map[string]any {
	fields, flags := make(map[string]any), cmd.Flags()
	for _, name := range append(texts, "requests", "tokens", "budget", "priority") {
		if flag := flags.Lookup(name); flag != nil && flag.Changed {
			fields[name] = flag.Value.String()
		}
	}
	for _, name := range [...]string{"models", "from", "tags"} {
		if flags.Changed(name) {
			fields[name], _ = flags.GetStringSlice(name)
		}
	}
	if flags.Changed("concurrent") {
		fields["concurrent"], _ = flags.GetInt64("concurrent")
	}
	return fields
}

// wordsOf returns rules with the words of the Caddyfile: "requests 60/1m, budget 50/month".
func wordsOf(r api.Rules) string {
	var rules []string
	add := func(word, value string) {
		if value != "" && value != "0" {
			rules = append(rules, word+" "+value)
		}
	}
	add("requests", r.Requests)
	add("tokens", r.Tokens)
	add("concurrent", strconv.FormatInt(r.Concurrent, 10))
	add("budget", r.Budget)
	add("priority", r.Priority)
	return strings.Join(rules, ", ")
}

package command

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const statusPath = apiPath + "status"

// statusCommand returns the command caddy ai-gateway status.
func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Shows whether a running gateway is well", Args: cobra.NoArgs,
		Long: "Shows whether a running gateway is well. The command fails if the gateway is not ready for requests, so that a container can use it as its health check.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var s api.Status
			if err := callRunning(cmd, statusPath, &s); err != nil {
				return err
			}
			printStatus(cmd.OutOrStdout(), &s, time.Now())
			if !s.Ready {
				return fmt.Errorf("the gateway is not ready: %s", s.Reason)
			}
			return nil
		},
	}
	addRunningFlags(cmd)
	return cmd
}

// printStatus prints a status, a line for each of its parts.
func printStatus(w io.Writer, s *api.Status, now time.Time) {
	fmt.Fprintf(w, "version    %s, Caddy %s\n", cmp.Or(s.Version, strings.TrimSpace("checkout "+s.Revision)), s.Caddy)
	fmt.Fprintf(w, "started    %s, %s ago\n", s.Started.Format(time.RFC3339), now.Sub(s.Started).Round(time.Second))
	fmt.Fprintf(w, "ready      %s\n", map[bool]string{true: "yes", false: "no: " + s.Reason}[s.Ready])
	for _, d := range s.Degraded {
		fmt.Fprintf(w, "degraded   %s: %s\n", d.Part, d.Reason)
	}
	for _, a := range s.Alerts {
		if a.Ended == nil {
			fmt.Fprintf(w, "attention  since %s: %s\n", a.Time.Format(time.RFC3339), a.Text)
		}
	}
	fmt.Fprintf(w, "requests   %d running, %d in the last minute\n", s.Running, s.Ended)
	if s.Catalog.AsOf != "" {
		fmt.Fprintf(w, "catalog    of %s%s\n", s.Catalog.AsOf, map[bool]string{true: ", older than 60 days"}[s.Catalog.Old])
	}
	fmt.Fprintf(w, "ledger     %s\n", ledgerState(s.Lag))
	for i, p := range s.Providers {
		title, state := "", "available"
		if i == 0 {
			title = "providers"
		}
		if !p.Available {
			state = "rests"
		}
		fmt.Fprintf(w, "%-10s %s: %s\n", title, p.Name, state)
	}
}

// ledgerState returns the state of a ledger that is so many seconds behind as a text for operators.
func ledgerState(lag *int64) string {
	switch {
	case lag == nil:
		return "none, or its state is unknown"
	case *lag == 0:
		return "up to date"
	}
	return fmt.Sprintf("%d seconds behind", *lag)
}

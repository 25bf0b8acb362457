package command

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const statusPath = apiPath + "status"

// gatewayStatus is an answer of the admin API about the gateway.
type gatewayStatus struct {
	Version  string    `json:"version"`
	Revision string    `json:"revision"`
	Caddy    string    `json:"caddy"`
	Started  time.Time `json:"started"`
	Ready    bool      `json:"ready"`
	Reason   string    `json:"reason"`
	Degraded []struct {
		Part   string `json:"part"`
		Reason string `json:"reason"`
	} `json:"degraded"`
	Running   int `json:"running"`
	Ended     int `json:"ended"`
	Providers []struct {
		Name      string `json:"name"`
		Available bool   `json:"available"`
	} `json:"providers"`
	Behind *int64 `json:"ledger_behind_seconds"`
}

// statusCommand returns the command caddy ai-gateway status.
func statusCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "status", Short: "Shows whether a running gateway is well", Args: cobra.NoArgs,
		Long: "Shows whether a running gateway is well. The command fails if the gateway is not ready for requests, so that a container can use it as its health check.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var s gatewayStatus
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
func printStatus(out io.Writer, s *gatewayStatus, now time.Time) {
	fmt.Fprintf(out, "version    %s, Caddy %s\n", cmp.Or(s.Version, strings.TrimSpace("checkout "+s.Revision)), s.Caddy)
	fmt.Fprintf(out, "started    %s, %s ago\n", s.Started.Format(time.RFC3339), now.Sub(s.Started).Round(time.Second))
	fmt.Fprintf(out, "ready      %s\n", map[bool]string{true: "yes", false: "no: " + s.Reason}[s.Ready])
	for _, d := range s.Degraded {
		fmt.Fprintf(out, "degraded   %s: %s\n", d.Part, d.Reason)
	}
	fmt.Fprintf(out, "requests   %d running, %d in the last minute\n", s.Running, s.Ended)
	fmt.Fprintf(out, "ledger     %s\n", s.ledger())
	for i, p := range s.Providers {
		title, state := "", "available"
		if i == 0 {
			title = "providers"
		}
		if !p.Available {
			state = "rests"
		}
		fmt.Fprintf(out, "%-10s %s: %s\n", title, p.Name, state)
	}
}

// ledger returns the state of the ledger as a text for operators.
func (s *gatewayStatus) ledger() string {
	switch {
	case s.Behind == nil:
		return "none, or its state is unknown"
	case *s.Behind == 0:
		return "up to date"
	}
	return fmt.Sprintf("%d seconds behind", *s.Behind)
}

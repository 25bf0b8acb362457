package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// mcpCommand returns the command caddy ai-gateway mcp.
func mcpCommand() *cobra.Command {
	cmd := withRunning(&cobra.Command{Use: "mcp", Short: "Shows the MCP servers of a running gateway, and their tools whose definitions have changed", Args: cobra.NoArgs},
		func(cmd *cobra.Command, a admin, _ []string) error {
			return printList(cmd, a, list{path: apiPath + "mcp", query: url.Values{}, table: printMCPServers})
		})
	cmd.Flags().BoolP("json", "", false, "Print JSON instead of a table")
	cmd.AddCommand(withRunning(&cobra.Command{
		Use: "accept <server> [<tool>]", Short: "Accepts the changed definitions of the tools of an MCP server, or of one of them", Args: cobra.RangeArgs(1, 2),
	}, acceptTools))
	return cmd
}

// printMCPServers prints servers as a table.
func printMCPServers(w io.Writer, items []json.RawMessage) error {
	servers, err := decoded[api.MCPServer](items)
	if err != nil {
		return err
	}
	table := newTable(w, "SERVER", "PIN", "TOOLS", "CHANGED")
	for _, s := range servers {
		table.row(s.Name, s.Pin, fmt.Sprint(s.Tools), strings.Join(s.Changed, " "))
	}
	return table.Flush()
}

// acceptTools accepts changed definitions.
func acceptTools(cmd *cobra.Command, a admin, args []string) error {
	query := url.Values{"server": {args[0]}}
	if len(args) > 1 {
		query.Set("tool", args[1])
	}
	var answer api.Accepted
	if err := call(a, http.MethodPost, apiPath+"mcp/accept?"+query.Encode(), nil, &answer); err != nil {
		return err
	}
	for _, tool := range answer.Accepted {
		_, _ = fmt.Fprintln(cmd.OutOrStdout(), tool)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d definitions accepted\n", len(answer.Accepted))
	return err
}

package command

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// cacheCommand returns the command caddy ai-gateway cache.
func cacheCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "cache", Short: "Removes cached answers of a running gateway", Args: cobra.NoArgs, RunE: showHelp}
	cmd.AddCommand(withRunning(&cobra.Command{
		Use: "clear", Short: "Removes all cached answers of all sites", Args: cobra.NoArgs,
	}, func(cmd *cobra.Command, a admin, _ []string) error {
		var answer api.Removed
		if err := call(a, http.MethodDelete, apiPath+"cache", nil, &answer); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d answers removed\n", answer.Removed)
		return err
	}))
	return cmd
}

package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

const caddyfilePath = apiPath + "configuration/caddyfile"

// configurationCommand returns the command caddy ai-gateway configuration.
func configurationCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "configuration", Short: "Prints what a running gateway is configured with, as a Caddyfile", Args: cobra.NoArgs,
		Long: `
Prints the global option and the directives ai_gateway of the sites as a Caddyfile, with
imports and environment variables inserted. Secrets are references. The other directives
of the sites are left out.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var running api.Caddyfile
			if err := callRunning(cmd, caddyfilePath, &running); err != nil {
				return err
			}
			_, err := io.WriteString(cmd.OutOrStdout(), running.Text)
			return err
		},
	}
	addRunningFlags(cmd)
	return cmd
}

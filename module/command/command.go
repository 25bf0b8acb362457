// Package command implements the command caddy ai-gateway: it starts a gateway without a configuration
// file, and its subcommands manage users and keys, show usage and targets, and test models.
//
// It promises that a subcommand works with a running gateway, and without one if the store has files on
// this machine.
//
// It refuses to print keys that it has not created, and to accept a password as an argument.
package command

import (
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/catalogfile"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/login"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/quickstart"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:      "ai-gateway",
		Usage:     "[--listen <address>] [--pace <duration>] [--debug] [--print]",
		Short:     "Starts an AI gateway from the API keys in the environment",
		Long:      help,
		CobraFunc: configure,
	})
}

// configure adds the flags and the subcommands.
func configure(cmd *cobra.Command) {
	cmd.Args = cobra.NoArgs
	cmd.Flags().StringP("listen", "l", "localhost:8080", "Address to listen on")
	cmd.Flags().DurationP("pace", "", 15*time.Millisecond, "Pause of the demo provider before each piece of a stream")
	cmd.Flags().BoolP("debug", "v", false, "Enable verbose debug logs")
	cmd.Flags().BoolP("print", "", false, "Print a Caddyfile to start from, instead of running one")
	cmd.RunE = caddycmd.WrapCommandFuncForCobra(run)
	cmd.AddCommand(userCommand(), keyCommand(), teamCommand(), usageCommand(), limitsCommand(), statusCommand(), auditCommand(), targetsCommand(), explainCommand(), configurationCommand(), cacheCommand(), mcpCommand(), doctorCommand(), catalogfile.Command(), backupCommand(), restoreCommand(), importCommand(), docsCommand())
	cmd.AddCommand(login.Commands()...)
	explainMistakes(cmd)
}

// run starts the gateway, and does not return until a signal ends the process.
func run(flags caddycmd.Flags) (int, error) {
	options := quickstart.Options{Listen: flags.String("listen"), Pace: flags.Duration("pace"), Debug: flags.Bool("debug")}
	if flags.Bool("print") {
		if err := quickstart.Print(options, os.Getenv, os.Stdout, os.Stderr); err != nil {
			return caddy.ExitCodeFailedStartup, err
		}
		return caddy.ExitCodeSuccess, nil
	}
	caddy.TrapSignals()
	if err := quickstart.Start(options, os.Getenv, prepareLogin, os.Stdout); err != nil {
		return caddy.ExitCodeFailedStartup, err
	}
	select {} // the signal handler ends the process
}

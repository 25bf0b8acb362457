// Package command implements the command caddy ai-gateway. The command starts a gateway
// without a configuration file, from the API keys in the environment. Its subcommands
// manage users and keys, show usage and targets, and test models.
//
// It promises a gateway that answers within a second, with or without an account at a
// provider. The configuration is a Caddyfile that an operator could have written: the
// command generates it, prints it on request, and runs it.
//
// It refuses to share an address with another program, to print keys that it has not
// created, and to accept a password as an argument.
package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/catalogfile"
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
	cmd.AddCommand(loginCommands()...)
}

// run starts the gateway, and does not return until a signal ends the process.
func run(flags caddycmd.Flags) (int, error) {
	s, err := newSetup(options{
		listen: flags.String("listen"),
		pace:   flags.Duration("pace"),
		debug:  flags.Bool("debug"),
	}, os.Getenv)
	if err != nil {
		return caddy.ExitCodeFailedStartup, err
	}
	if flags.Bool("print") {
		s.printed = true
		return caddy.ExitCodeSuccess, printCaddyfile(s, os.Stdout, os.Stderr)
	}
	caddy.TrapSignals()
	if err := start(s, os.Stdout); err != nil {
		return caddy.ExitCodeFailedStartup, err
	}
	select {} // the signal handler ends the process
}

// start starts the gateway in the background, and prints the banner.
func start(s *setup, out io.Writer) error {
	var err error
	if s.address, err = s.address.choosePort(); err != nil {
		return err
	}
	config, err := adapt(s.caddyfile())
	if err != nil {
		return err
	}
	if err := caddy.Run(config); err != nil {
		return fmt.Errorf("starting the gateway: %w", err)
	}
	s.login = prepareLogin()
	_, err = io.WriteString(out, s.banner())
	return err
}

func adapt(caddyfile string) (*caddy.Config, error) {
	adapter := caddyconfig.GetAdapter("caddyfile")
	if adapter == nil {
		return nil, fmt.Errorf("adapting the configuration: this build has no Caddyfile adapter")
	}
	raw, _, err := adapter.Adapt([]byte(caddyfile), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return nil, fmt.Errorf("adapting the configuration: %w", err)
	}
	config := new(caddy.Config)
	if err := json.Unmarshal(raw, config); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return config, nil
}

// printCaddyfile writes the Caddyfile to out. If the key is new, the Caddyfile contains
// only its digest, and printCaddyfile writes the key to messages.
func printCaddyfile(s *setup, out, messages io.Writer) error {
	if s.newKey {
		if _, err := fmt.Fprintf(messages, "The key of this file, shown only now: %s\n", s.key); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, s.caddyfile())
	return err
}

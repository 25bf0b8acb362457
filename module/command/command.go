// Package command is `caddy ai-gateway`: a complete gateway without any file,
// made from the API keys in the environment, and the users and keys of any.
//
// It promises a gateway that answers within a second of being started, with or
// without any account, and a configuration that an operator could have written:
// it writes a Caddyfile, shows it on request, and runs it. It refuses to share
// an address with another program, to show keys that came from outside, and to
// take a password as an argument.
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
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "ai-gateway",
		Usage: "[--listen <address>] [--pace <duration>] [--debug] [--print]",
		Short: "Starts an AI gateway from the API keys in the environment",
		Long: `
Starts a gateway for language models without any configuration file, and prints
its address and a key to use it with. Meant for a first look and for work on
one's own machine: it speaks plain HTTP.

Providers are taken from the environment:

    ANTHROPIC_API_KEY   models named claude-*
    OPENAI_API_KEY      models named gpt-*, o3* and so on
    OLLAMA_HOST         the models of an Ollama server

A provider that is alone serves every model name. The provider "demo" is always
there: it needs no account and answers deterministic text in every format, under
the model name "demo", or under any name while no other provider is configured.

Clients need a key, which is new at every start unless GATEWAY_KEY holds one, or
one that a user has made. Users are kept in Caddy's data directory; the user root
is made at the first start, with a random password, which is printed then.

The subcommands user and key manage the users and keys of any gateway: of the
default store, of a configuration's (--config), or of a Caddy that runs
(--address).

With --print the command prints the Caddyfile that it would run, to start a
configuration of one's own from.`,
		CobraFunc: func(cmd *cobra.Command) {
			cmd.Args = cobra.NoArgs
			cmd.Flags().StringP("listen", "l", "localhost:8080", "Address to listen on")
			cmd.Flags().DurationP("pace", "", 15*time.Millisecond, "Pause of the demo provider before each piece of a stream")
			cmd.Flags().BoolP("debug", "v", false, "Enable verbose debug logs")
			cmd.Flags().BoolP("print", "", false, "Print the Caddyfile instead of running it")
			cmd.RunE = caddycmd.WrapCommandFuncForCobra(run)
			cmd.AddCommand(userCommand(), keyCommand())
		},
	})
}

// run starts the gateway and serves until a signal ends the process.
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
		return caddy.ExitCodeSuccess, printCaddyfile(s, os.Stdout, os.Stderr)
	}
	caddy.TrapSignals()
	if err := start(s, os.Stdout); err != nil {
		return caddy.ExitCodeFailedStartup, err
	}
	select {} // the signal handler ends the process
}

// start runs the gateway in the background and shows the banner once it
// listens.
func start(s *setup, out io.Writer) error {
	var err error
	if s.address, err = s.address.settle(); err != nil {
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

// printCaddyfile keeps a new key out of the file: of that only the digest is
// written there.
func printCaddyfile(s *setup, out, messages io.Writer) error {
	if s.newKey {
		if _, err := fmt.Fprintf(messages, "The key of this file, shown only now: %s\n", s.key); err != nil {
			return err
		}
	}
	_, err := io.WriteString(out, s.caddyfile())
	return err
}

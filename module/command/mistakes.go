package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// explainMistakes adds to errors about the arguments and flags of a command, and of those below
// it, what is right: cobra only counts arguments, and suggests subcommands of caddy alone.
func explainMistakes(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; its flags are shown by: %s --help", err, cmd.CommandPath())
	})
	explainArguments(cmd)
}

// explainArguments is explainMistakes for arguments.
func explainArguments(cmd *cobra.Command) {
	if cmd.Args != nil {
		cmd.Args = withRemedy(cmd.Args)
	}
	for _, sub := range cmd.Commands() {
		explainArguments(sub)
	}
}

// withRemedy returns a check of arguments that adds what is right to the errors of another one.
func withRemedy(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return fmt.Errorf("%w; %s", err, expected(cmd, args))
		}
		return nil
	}
}

// expected returns what a command takes in the place of wrong arguments: a subcommand, if it has
// some.
func expected(cmd *cobra.Command, args []string) string {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	if known == nil {
		return "the command is: " + cmd.UseLine()
	}
	return suggest.DidYouMean(strings.Join(args, " "), known) + "known are: " + strings.Join(known, ", ")
}

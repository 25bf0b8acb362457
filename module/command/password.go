package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// maxPassword is the largest number of bytes that are read for a password. Passwords of
// accounts are shorter.
const maxPassword = 4096

func addPasswordFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolP("password-stdin", "", false, "Read the password from the standard input")
	return cmd
}

// readPassword reads a password from the standard input if the flag is set, or else from
// the terminal. It returns "" if there is no terminal or the input is empty. No flag
// accepts a password, because other users of the machine can see command lines.
func readPassword(cmd *cobra.Command) (string, error) {
	if fromInput, _ := cmd.Flags().GetBool("password-stdin"); fromInput {
		return readLine(cmd.InOrStdin())
	}
	if cmd.InOrStdin() != os.Stdin || !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", nil
	}
	password, err := prompt(cmd.ErrOrStderr(), "Password (empty for a random one): ")
	if err != nil || password == "" {
		return "", err
	}
	again, err := prompt(cmd.ErrOrStderr(), "Repeat the password: ")
	if err == nil && again != password {
		err = errors.New("the two passwords differ")
	}
	return password, err
}

func readLine(reader io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(reader, maxPassword))
	if err != nil {
		return "", fmt.Errorf("reading password: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if password == "" {
		return "", errors.New("reading password: the standard input is empty")
	}
	return password, nil
}

// prompt reads a line from the terminal without echo.
func prompt(w io.Writer, text string) (string, error) {
	fmt.Fprint(w, text)
	password, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(w)
	if err != nil {
		return "", fmt.Errorf("reading password: %w", err)
	}
	return string(password), nil
}

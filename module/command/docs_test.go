package command

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the page of the commands")

const commandsPage = "../../caddyfile/docs/commands.md"

// The page of the commands has every command and every flag: an operator had to search twelve pages
// for an example that has the flag. It is rewritten with -update.
func TestThePageOfTheCommandsHasEveryFlag(t *testing.T) {
	root := &cobra.Command{Use: "caddy"}
	gateway := &cobra.Command{Use: "ai-gateway", Short: "Starts an AI gateway from the API keys in the environment", Long: help}
	root.AddCommand(gateway)
	configure(gateway)
	var page strings.Builder
	page.WriteString("# Commands\n\nEvery command with its flags, as `--help` shows them. The commands about users, teams, keys, usage and limits change or show [the gateway that runs](users.md#commands), if its admin API answers.\n")
	writeCommand(&page, gateway)
	if *update {
		require.NoError(t, os.WriteFile(commandsPage, []byte(page.String()), 0o644))
	}
	written, err := os.ReadFile(commandsPage)
	require.NoError(t, err)
	assert.Equal(t, page.String(), string(written))
	assert.Contains(t, page.String(), "\n## caddy ai-gateway key new\n")
	assert.Contains(t, page.String(), "\n  -o, --out string ")
}

// writeCommand writes a command and those below it.
func writeCommand(page *strings.Builder, cmd *cobra.Command) {
	if cmd.Runnable() {
		fmt.Fprintf(page, "\n## %s\n\n%s.\n\n```text\n%s\n```\n", cmd.CommandPath(), strings.TrimSuffix(cmd.Short, "."), cmd.UseLine())
		if long := strings.TrimSpace(cmd.Long); long != "" {
			fmt.Fprintf(page, "\n```text\n%s\n```\n", long)
		}
		if flags := cmd.LocalFlags().FlagUsages(); flags != "" {
			fmt.Fprintf(page, "\n```text\n%s```\n", flags)
		}
	}
	for _, below := range cmd.Commands() {
		writeCommand(page, below)
	}
}

func TestDocsWritesTheSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	require.NoError(t, runDocs(t, nil, "--out", dir))
	assert.FileExists(t, filepath.Join(dir, "index.html"))
}

var siteAddress = regexp.MustCompile(`http://\S+/`)

// The site is served until the command is interrupted.
func TestDocsServesTheSite(t *testing.T) {
	asked := false
	err := runDocs(t, func(printed string) {
		asked = true
		answer, err := http.Get(siteAddress.FindString(printed) + "limits.html")
		if assert.NoError(t, err) {
			assert.Equal(t, http.StatusOK, answer.StatusCode)
			assert.NoError(t, answer.Body.Close())
		}
	}, "--listen", "127.0.0.1:0")
	require.NoError(t, err)
	assert.True(t, asked)
}

// runDocs runs the command, and interrupts it after what it prints has been read.
func runDocs(t *testing.T, read func(printed string), args ...string) error {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	cmd := docsCommand()
	cmd.SetArgs(args)
	cmd.SetOut(writer(func(printed string) {
		go func() { // ends with the answer; the server accepts as soon as the command goes on
			defer interrupt()
			read(printed)
		}()
	}))
	return cmd.ExecuteContext(ctx)
}

// writer calls a function with what is written.
type writer func(string)

func (w writer) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}

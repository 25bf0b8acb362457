package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/migration/litellm"
)

// exitIncomplete is the exit status of an import that has left something out.
const exitIncomplete = 3

const importHelp = `
Reads the configuration of another gateway, and prints the Caddyfile that it becomes. Nothing
is changed there. The report, on the standard error, has a line for each thing that differs;
lost protections come first.

The keys of a database are written to a file of keys: clients keep them. The file contains
digests only, and is readable by its owner only.

The exit status is 0 if everything came over, 3 if something was left out, and 1 if there is
no Caddyfile.`

// importCommand returns the command caddy ai-gateway import.
func importCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Makes a Caddyfile of the configuration of another gateway", Args: cobra.NoArgs, RunE: showHelp}
	from := &cobra.Command{
		Use: "litellm <config.yaml>", Short: "Imports the configuration of a LiteLLM proxy, and the keys of its database",
		Long: strings.TrimSpace(importHelp), Args: cobra.ExactArgs(1), RunE: importLiteLLM,
	}
	from.Flags().StringP("site", "", "ai.example.com", "Address of the site")
	from.Flags().StringP("database", "", "", "PostgreSQL database with the keys: {env.NAME} or {file./absolute/path} with its DSN")
	from.Flags().StringP("keys", "", "/etc/caddy/litellm.keys", "File of keys to write, with --database; it must not exist")
	from.Flags().BoolP("dry-run", "", false, "Print the report only, and write no file")
	cmd.AddCommand(from)
	return cmd
}

// importLiteLLM prints the Caddyfile, writes the keys, and prints the report.
func importLiteLLM(cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	site, _ := flags.GetString("site")
	database, _ := flags.GetString("database")
	keys, _ := flags.GetString("keys")
	dry, _ := flags.GetBool("dry-run")
	if !filepath.IsAbs(keys) {
		return fmt.Errorf("--keys needs an absolute path, not '%s'", keys)
	}
	config, err := os.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	var tables *litellm.Tables
	if database != "" {
		dsn, err := aigateway.ResolveSecret(database)
		if err != nil {
			return fmt.Errorf("--database: %w", err)
		}
		if tables, err = litellm.Query(cmd.Context(), string(dsn)); err != nil {
			return err
		}
	}
	g, report, err := litellm.Read(config, tables, site)
	if err != nil {
		return err
	}
	if tables != nil {
		g.SiteWords = append(g.SiteWords, migration.Words("keys_file", keys))
	}
	if _, err := adapt(g.Caddyfile()); err != nil {
		return fmt.Errorf("checking the Caddyfile of the import: %w", err)
	}
	if !dry {
		if tables != nil {
			if err := writeNew(keys, migration.KeysFile(g.Keys)); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(cmd.OutOrStdout(), g.Caddyfile()); err != nil {
			return err
		}
	}
	if err := report.Write(cmd.ErrOrStderr()); err != nil || report.Complete() {
		return err
	}
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitIncomplete, nil })(cmd, nil)
}

// writeNew writes a file that only its owner can read. It refuses to replace one.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the file %s exists: remove it, or choose another one with --keys", path)
	}
	if err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	_, err = io.WriteString(file, text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	return nil
}

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
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/litellm"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/newapi"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/migration/rows"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/command/quickstart"
)

// exitIncomplete is the exit status of an import that has left something out.
const exitIncomplete = 3

const importHelp = `
Reads the configuration of another gateway, and prints the Caddyfile that it becomes. Nothing
is changed there. The report, on the standard error, has a line for each thing that differs;
lost protections come first.

The keys of a database are written to a file of keys: clients keep them. The file contains
digests only, and is readable by its owner only. With --accounts, the command prints no
Caddyfile: it writes users, and what was spent of budgets, to the store of --config.

A database is {env.NAME} or {file./absolute/path} with the DSN of PostgreSQL, or the path of
a file of SQLite, or of a dump of PostgreSQL, MySQL or SQLite.

The exit status is 0 if everything came over, 3 if something was left out, and 1 if there is
no Caddyfile.`

// importCommand returns the command caddy ai-gateway import.
func importCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "import", Short: "Makes a Caddyfile of the configuration of another gateway", Args: cobra.NoArgs, RunE: showHelp}
	fromLiteLLM := importFrom("litellm <config.yaml>", "Imports the configuration of a LiteLLM proxy, and the keys of its database", readLiteLLM)
	fromLiteLLM.Flags().StringP("database", "", "", "Database with keys, users and budgets")
	cmd.AddCommand(fromLiteLLM)
	for _, product := range [...]newapi.Product{newapi.NewAPI, newapi.OneAPI} {
		command := importFrom(product.Name+" <database>", "Imports the database of "+product.Name, readNewAPI(product))
		command.Flags().StringP("group", "", "", "Group whose channels and keys become the site (default all)")
		command.Flags().StringP("env-file", "", "", "File for the environment of the service to write, with the API keys of channels; it must not exist")
		cmd.AddCommand(command)
	}
	return cmd
}

// reader reads a source, whose path or reference is an argument of a command.
type reader func(cmd *cobra.Command, source, site string) (*migration.Gateway, *migration.Report, error)

// importFrom returns a command that imports a source.
func importFrom(use, short string, read reader) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: strings.TrimSpace(importHelp), Args: cobra.ExactArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return runImport(cmd, args[0], read) }
	name, _, _ := strings.Cut(use, " ")
	cmd.Flags().StringP("site", "", "ai.example.com", "Address of the site")
	cmd.Flags().StringP("keys", "", "/etc/caddy/"+name+".keys", "File of keys to write; it must not exist")
	cmd.Flags().BoolP("dry-run", "", false, "Print a table of what comes over and what does not, and write nothing")
	cmd.Flags().BoolP("accounts", "", false, "Write users and spent amounts to the store instead")
	addFileFlags(cmd)
	return cmd
}

// readLiteLLM reads the configuration of a LiteLLM proxy, and its database if there is one.
func readLiteLLM(cmd *cobra.Command, source, site string) (*migration.Gateway, *migration.Report, error) {
	file, err := rows.Open(source)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	config, err := io.ReadAll(file)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the configuration: %w", err)
	}
	var tables *litellm.Tables
	if database, _ := cmd.Flags().GetString("database"); database != "" {
		all, err := readTables(cmd, database, litellm.TableNames())
		if err != nil {
			return nil, nil, err
		}
		if tables, err = litellm.TablesOf(all); err != nil {
			return nil, nil, err
		}
	}
	return litellm.Read(config, tables, site)
}

// readNewAPI returns a function that reads the database of new-api or one-api.
func readNewAPI(product newapi.Product) reader {
	return func(cmd *cobra.Command, source, site string) (*migration.Gateway, *migration.Report, error) {
		group, _ := cmd.Flags().GetString("group")
		tables, err := readTables(cmd, source, newapi.TableNames)
		if err != nil {
			return nil, nil, err
		}
		return newapi.Read(product, tables, site, group)
	}
}

// readTables reads tables of a database, whose DSN is never an argument.
func readTables(cmd *cobra.Command, source string, names []string) (rows.Tables, error) {
	switch {
	case strings.Contains(source, "://"):
		return nil, errors.New("a DSN is not an argument, because others can see those: write {env.NAME} or {file./absolute/path}")
	case !strings.HasPrefix(source, "{"):
		return rows.File(cmd.Context(), source, names...)
	}
	dsn, err := aigateway.ResolveSecret(source)
	if err != nil {
		return nil, fmt.Errorf("reading the DSN: %w", err)
	}
	return rows.Query(cmd.Context(), string(dsn), names...)
}

// runImport reads a source, and prints or writes what comes of it.
func runImport(cmd *cobra.Command, source string, read reader) error {
	site, _ := cmd.Flags().GetString("site")
	keys, _ := cmd.Flags().GetString("keys")
	if !filepath.IsAbs(keys) || !migration.Writable(keys) {
		return fmt.Errorf("--keys needs an absolute path without braces, not %q", keys)
	}
	dry, _ := cmd.Flags().GetBool("dry-run")
	g, report, err := read(cmd, source, site)
	if err != nil {
		if dry && report != nil {
			err = errors.Join(printReport(cmd.OutOrStdout(), report), err)
		}
		return err
	}
	if len(g.Keys) > 0 {
		g.SiteWords = append(g.SiteWords, migration.Words("keys_file", keys))
	}
	text := g.Caddyfile()
	if _, err := quickstart.Adapt(text); err != nil {
		return fmt.Errorf("checking the Caddyfile of the import: %w", err)
	}
	report.Unset = migration.Variables(text)
	accounts, _ := cmd.Flags().GetBool("accounts")
	switch {
	case dry:
		err = printReport(cmd.OutOrStdout(), report)
	case accounts:
		err = importAccounts(cmd, g, report)
	default:
		err = writeImport(cmd, g, report, keys)
	}
	if err == nil && !dry {
		err = report.Write(cmd.ErrOrStderr())
	}
	if err != nil || report.Complete() {
		return err
	}
	cmd.SilenceErrors = true // the report shows what was left out
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return exitIncomplete, nil })(cmd, nil)
}

// printReport prints what comes over, what changes, and what does not come.
func printReport(w io.Writer, report *migration.Report) error {
	table := newTable(w, "RESULT", "WHERE", "WHAT")
	for _, kept := range report.Kept {
		table.row("comes over", "", kept)
	}
	for _, note := range report.Sorted() {
		table.row(note.Kind.String(), note.Place, note.Text)
	}
	for _, name := range report.Unset {
		table.row("to set", "", "the variable "+name)
	}
	return table.Flush()
}

// writeImport writes the file of keys and that of the environment, and prints the Caddyfile.
func writeImport(cmd *cobra.Command, g *migration.Gateway, report *migration.Report, keys string) error {
	if len(g.Keys) > 0 {
		if err := writeNew(keys, migration.KeysFile(g.Keys)); err != nil {
			return err
		}
	}
	if len(g.Secrets) > 0 {
		path, _ := cmd.Flags().GetString("env-file")
		text, left := migration.EnvFile(g.Secrets)
		for _, variable := range left {
			report.Add(migration.Lost, variable, "the API key has characters that a file for an environment cannot contain: set the variable by hand")
		}
		if path == "" {
			report.Add(migration.Changed, "channels", "API keys are read from variables such as %s: --env-file writes them to a file", g.Secrets[0].Variable)
		} else if err := writeNew(path, text); err != nil {
			return err
		}
	}
	_, err := io.WriteString(cmd.OutOrStdout(), g.Caddyfile())
	return err
}

// writeNew writes a file that only its owner can read. It refuses to replace one.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("the file %s exists: remove it, or choose another one", path)
	}
	if err != nil {
		return fmt.Errorf("creating a file: %w", err)
	}
	_, err = io.WriteString(file, text)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}

package command

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// backupCommand returns the command caddy ai-gateway backup.
func backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup <folder>", Short: "Copies users, keys and usage to a new folder", Args: cobra.ExactArgs(1),
		Long: `
Copies the store, the ledger and its journal to a new folder, which only its owner can
read. The gateway that runs makes the copy, if its admin API answers; otherwise the
command copies the files of the default store, or of the store of a configuration. The
files are copied as of one moment: each record of usage that was complete when the
command began is in the copy once.

It copies the files of a store sqlite. A PostgreSQL database contains users, keys and
usage; copy it with pg_dump.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := makeBackup(cmd, args[0]); err != nil {
				return fmt.Errorf("making the backup: %w", err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "The backup is in %s.\n", args[0])
			return err
		},
	}
	addStoreFlags(cmd)
	return cmd
}

// makeBackup makes a backup in a new or empty folder, which it leaves as it was if that fails.
func makeBackup(cmd *cobra.Command, folder string) error {
	address, err := useRunning(cmd)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	isNew := errors.Is(err, fs.ErrNotExist)
	if len(entries) > 0 || err != nil && !isNew {
		return errors.Join(fmt.Errorf("%s is not empty: name a new folder", folder), err)
	}
	if address != "" {
		err = receiveBackup(remote{address}, folder)
	} else {
		err = withFiles(cmd, folder, func(files accounting.StoreFiles, options accounting.LedgerOptions, folder string) error {
			return files.Backup(cmd.Context(), options, folder)
		})
	}
	switch {
	case err == nil:
	case isNew:
		_ = os.RemoveAll(folder)
	default:
		empty(folder)
	}
	return err
}

// empty removes what is in a folder, as far as it can.
func empty(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		_ = os.RemoveAll(filepath.Join(folder, entry.Name()))
	}
}

// receiveBackup unpacks the backup that a running gateway makes.
func receiveBackup(gateway remote, folder string) error {
	answer, err := gateway.open(http.MethodPost, apiPath+"backup", nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Close() }()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder) // nothing outside of the folder is written, whatever the names are
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for archive := tar.NewReader(answer); ; {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err := root.Stat("backup.json") // of each whole backup
			return err
		}
		if err == nil {
			err = unpack(root, entry, archive)
		}
		if err != nil {
			return fmt.Errorf("receiving files: %w", err)
		}
	}
}

// unpack writes a folder or a file of an archive.
func unpack(root *os.Root, entry *tar.Header, content io.Reader) error {
	if entry.Typeflag == tar.TypeDir {
		return root.MkdirAll(filepath.Clean(entry.Name), 0o700)
	}
	file, err := root.OpenFile(entry.Name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Sync(), file.Close())
}

// restoreCommand returns the command caddy ai-gateway restore.
func restoreCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore <folder>", Short: "Puts a backup in the place of users, keys and usage", Args: cobra.ExactArgs(1),
		Long: `
Copies a backup to the places of the store, the ledger and its journal. Stop the gateway
first; without --config, the store is the default one of your own account, and not that
of a service. With --force, the command replaces the present files, and keeps them under other names.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := restoreBackup(cmd, args[0]); err != nil {
				return fmt.Errorf("restoring the backup: %w", err)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "The backup is restored. Start the gateway.")
			return err
		},
	}
	addFileFlags(cmd)
	cmd.Flags().BoolP("force", "f", false, "Replace the present files, and keep them under other names")
	return cmd
}

// restoreBackup puts a backup in the place of the selected store. Without --config, that is a store
// of the own account, which is hardly that of a service whose gateway still runs.
func restoreBackup(cmd *cobra.Command, folder string) error {
	if path, _ := cmd.Flags().GetString("config"); path == "" && isRunning() {
		return fmt.Errorf("a gateway runs at %s: stop it first, and name its configuration with --config", caddy.DefaultAdminListen)
	}
	return withFiles(cmd, folder, func(files accounting.StoreFiles, options accounting.LedgerOptions, folder string) error {
		replace, _ := cmd.Flags().GetBool("force")
		kept, err := files.Restore(cmd.Context(), options, folder, replace)
		if kept != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "Previous files have %s in their names now.\n", kept)
		}
		return err
	})
}

// errNoFiles is the error for a store without files.
var errNoFiles = errors.New("the store has no files on this machine; for store postgres, use pg_dump and pg_restore: the database contains users, keys and usage")

// withFiles runs a function with the files of the selected store, the options of its ledger, and the
// absolute path of a folder.
func withFiles(cmd *cobra.Command, folder string, run func(accounting.StoreFiles, accounting.LedgerOptions, string) error) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	return withStore(cmd, func(store aigateway.Store, options accounting.LedgerOptions) error {
		files, ok := store.(accounting.StoreFiles)
		if !ok {
			return errNoFiles
		}
		return run(files, options, folder)
	})
}

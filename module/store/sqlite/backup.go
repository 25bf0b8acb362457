package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// The files of a backup. Journals are folders with the names that they had.
const (
	backupContents = "backup.json"
	backupAccounts = "store.db"
	backupRecords  = "ledger.db"
)

// backup is the content of the file that describes a backup. It is written last: a folder
// without it is not a whole backup.
type backup struct {
	Made     time.Time `json:"made"`
	Ledger   bool      `json:"ledger"`   // whether it contains a ledger
	Journals []string  `json:"journals"` // their folders, the usual one first
}

// Backup implements accounting.StoreFiles.
func (s *SQLite) Backup(ctx context.Context, options accounting.LedgerOptions, folder string) error {
	path, err := s.resolve()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		return errors.Join(fmt.Errorf("%s is not empty: name a new folder", folder), err)
	}
	made := backup{Made: time.Now().UTC().Truncate(time.Second)}
	journals := ledger.Journals(options.Journal, s.journal)
	if _, err := os.Stat(s.records); err == nil {
		made.Ledger = true
		err := ledger.Copy(journals, folder, func() error { return snapshot(ctx, s.records, filepath.Join(folder, backupRecords)) })
		if err != nil {
			return fmt.Errorf("copying the ledger: %w", err)
		}
		for _, dir := range journals {
			made.Journals = append(made.Journals, filepath.Base(dir))
		}
	}
	// The store comes last: a key without usage is possible, usage without its key is not.
	if err := snapshot(ctx, path, filepath.Join(folder, backupAccounts)); err != nil {
		return fmt.Errorf("copying the store: %w", err)
	}
	described, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, backupContents), append(described, '\n'), 0o600)
}

// snapshot copies the database of a file, and replaces a copy of an earlier attempt.
func snapshot(ctx context.Context, from, to string) error {
	if _, err := os.Stat(from); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := sql.Open("sqlite", (&file{path: from}).address())
	if err != nil {
		return err
	}
	return errors.Join(copyInto(ctx, db, to), db.Close())
}

// Restore implements accounting.StoreFiles.
func (s *SQLite) Restore(ctx context.Context, options accounting.LedgerOptions, folder string, replace bool) (kept string, err error) {
	path, err := s.resolve()
	if err != nil {
		return "", err
	}
	from, err := readBackup(folder)
	if err != nil {
		return "", err
	}
	if options.Journal != "" && len(from.Journals) > 1 {
		return "", fmt.Errorf("the backup has %d journals, and the configuration has one: restore the backup with a configuration without a journal, and start the gateway once", len(from.Journals))
	}
	journals := ledger.Journals(options.Journal, s.journal)
	for _, dir := range journals {
		if err := journal.InUse(dir); err != nil {
			return "", fmt.Errorf("%w: stop the gateway first", err)
		}
	}
	if err := checkUnused(ctx, path); err != nil {
		return "", err
	}
	kept = ".replaced-" + time.Now().UTC().Format("20060102T150405")
	present := presentFiles(append(journals, path, s.records), kept)
	switch {
	case len(present) == 0:
		kept = ""
	case !replace:
		return "", fmt.Errorf("%s exists: --force replaces the files of this gateway, and keeps them under other names", present[0].from)
	}
	for _, f := range present {
		if err := os.Rename(f.from, f.to); err != nil {
			return kept, fmt.Errorf("keeping the present files: %w", err)
		}
	}
	for i, name := range from.Journals {
		if err := journal.Copy(filepath.Join(folder, name), s.journalNumber(i, options), 0); err != nil {
			return kept, err
		}
	}
	if from.Ledger {
		if err := copyDatabase(filepath.Join(folder, backupRecords), s.records); err != nil {
			return kept, err
		}
	}
	// The store comes last: without it, a gateway knows no key of the backup.
	if err := copyDatabase(filepath.Join(folder, backupAccounts), path); err != nil {
		return kept, err
	}
	return kept, skipIDs(ctx, path)
}

// lostKeys is the number of ids that a restored store leaves out: those of keys that were
// created after the backup. The ids of an old store have a gap of their own, see nextKeyID.
const lostKeys = 10_000

// skipIDs leaves out the ids of lost keys in a store. A store of an older gateway, which
// lacks the column, does so when it is migrated, if it is old enough.
func skipIDs(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", (&file{path: path}).address())
	if err != nil {
		return err
	}
	const known = `SELECT count(*) FROM pragma_table_info('gateway_state') WHERE name = 'last_key'`
	var columns int
	if err = db.QueryRowContext(ctx, known).Scan(&columns); err == nil && columns > 0 {
		_, err = db.ExecContext(ctx, `UPDATE gateway_state SET last_key = last_key + ?`, lostKeys)
	}
	return errors.Join(err, db.Close())
}

// readBackup returns the description of a backup.
func readBackup(folder string) (b backup, err error) {
	described, err := os.ReadFile(filepath.Join(folder, backupContents))
	if err != nil {
		return b, fmt.Errorf("%s is not a whole backup: %w", folder, err)
	}
	if err := json.Unmarshal(described, &b); err != nil {
		return b, fmt.Errorf("reading %s: %w", filepath.Join(folder, backupContents), err)
	}
	needed := append([]string{backupAccounts}, b.Journals...)
	if b.Ledger {
		needed = append(needed, backupRecords)
	}
	for _, name := range needed {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil || !filepath.IsLocal(name) {
			return b, fmt.Errorf("%s is not a whole backup: it lacks %q", folder, name)
		}
	}
	return b, nil
}

// checkUnused returns an error if a process has opened a database: each keeps a lock on the
// file. A file that is damaged may be replaced.
func checkUnused(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	db, err := sql.Open("sqlite", (&file{path: path}).address())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if _, err = db.ExecContext(ctx, `PRAGMA locking_mode = EXCLUSIVE`); err == nil {
		_, err = db.ExecContext(ctx, `BEGIN EXCLUSIVE`)
	}
	if isBusy(err) {
		err = fmt.Errorf("%s: another process uses the store: stop the gateway first", path)
	} else {
		err = nil
	}
	return errors.Join(err, db.Close())
}

// move is a new name of a file or folder.
type move struct{ from, to string }

// presentFiles returns those of the paths that exist, databases with their logs, with names
// under which they can be kept.
func presentFiles(paths []string, suffix string) (present []move) {
	for _, path := range paths {
		for _, part := range []string{"", walSuffix, indexSuffix} {
			if _, err := os.Lstat(path + part); err == nil {
				present = append(present, move{path + part, path + suffix + part})
			}
		}
	}
	return present
}

// journalNumber returns the folder for a journal of a backup, from 0. The journals of further
// processes are beside the first one, where each gateway looks for them.
func (s *SQLite) journalNumber(i int, options accounting.LedgerOptions) string {
	dir := cmp.Or(options.Journal, s.journal)
	if i > 0 {
		dir += "-" + strconv.Itoa(i+1)
	}
	return dir
}

// copyDatabase copies a database to a path, and creates its folder.
func copyDatabase(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return journal.CopyFile(from, to)
}

var _ accounting.StoreFiles = (*SQLite)(nil)

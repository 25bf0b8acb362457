package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// Restore implements accounting.StoreFiles.
func (s *SQLite) Restore(ctx context.Context, options accounting.LedgerOptions, folder string, replace bool) (kept string, err error) {
	path, err := s.resolve()
	if err != nil {
		return "", err
	}
	saved, err := readBackup(folder)
	if err != nil {
		return "", err
	}
	if options.Journal != "" && len(saved.Journals) > 1 {
		return "", fmt.Errorf("the backup has %d journals, and the configuration has one: restore the backup with a configuration without a journal, and start the gateway once", len(saved.Journals))
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
	places := append(journals, path, s.records)
	for i := range saved.Journals {
		if place := s.journalNumber(i, options); !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	kept, present := keptNames(places)
	switch {
	case len(present) == 0:
		kept = ""
	case !replace:
		return "", fmt.Errorf("%s exists: --force replaces the files of this gateway, and keeps them under other names", present[0].src)
	}
	if err := saved.check(ctx, folder); err != nil {
		return "", fmt.Errorf("the backup is damaged, and nothing was changed: use another one: %w", err)
	}
	for i, f := range present {
		if err := os.Rename(f.src, f.dst); err != nil {
			return "", errors.Join(fmt.Errorf("keeping the present files: %w", err), putBack(present[:i]))
		}
	}
	if err := s.copyBackup(ctx, saved, options, folder, path); err != nil {
		return "", errors.Join(err, removeAll(places), putBack(present))
	}
	return kept, nil
}

// copyBackup copies a backup to the places of its parts.
func (s *SQLite) copyBackup(ctx context.Context, saved backup, options accounting.LedgerOptions, folder, path string) error {
	for i, name := range saved.Journals {
		if err := journal.Copy(filepath.Join(folder, name), s.journalNumber(i, options), 0); err != nil {
			return err
		}
	}
	if saved.Ledger {
		if err := copyDatabase(filepath.Join(folder, backupRecords), s.records); err != nil {
			return err
		}
	}
	// The store comes last: without it, a gateway knows no key of the backup.
	if err := copyDatabase(filepath.Join(folder, backupAccounts), path); err != nil {
		return err
	}
	return skipIDs(ctx, path)
}

// keptNames returns a suffix under which all present files can be kept, and their names.
func keptNames(places []string) (suffix string, present []move) {
	named := ".replaced-" + time.Now().UTC().Format("20060102T150405")
	suffix = named
	for n := 2; ; n++ {
		present = presentFiles(places, suffix)
		if !slices.ContainsFunc(present, func(m move) bool { _, err := os.Lstat(m.dst); return err == nil }) {
			return suffix, present
		}
		suffix = named + "-" + strconv.Itoa(n) // two restores within a second
	}
}

// putBack gives files their names of before.
func putBack(moved []move) (err error) {
	for _, f := range moved {
		err = errors.Join(err, os.Rename(f.dst, f.src))
	}
	if err != nil {
		return fmt.Errorf("putting the files of before back, which have .replaced in their names: %w", err)
	}
	return nil
}

// removeAll removes files and folders, databases with their logs.
func removeAll(places []string) (err error) {
	for _, place := range presentFiles(places, "") {
		err = errors.Join(err, os.RemoveAll(place.src))
	}
	return err
}

// check returns an error if a part of the backup is missing or damaged.
func (b *backup) check(ctx context.Context, folder string) error {
	sums, err := digests(folder)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(b.Files)) {
		switch digest, ok := sums[path]; {
		case !ok:
			return fmt.Errorf("%s is missing", path)
		case digest != b.Files[path]:
			return fmt.Errorf("%s is not as the backup was made", path)
		}
	}
	for _, name := range b.Journals {
		if err := journal.Check(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	if b.Ledger {
		if err := checkDatabase(ctx, filepath.Join(folder, backupRecords), records.state); err != nil {
			return err
		}
	}
	return checkDatabase(ctx, filepath.Join(folder, backupAccounts), accounts.state)
}

// checkDatabase returns an error if a database is damaged, or lacks a table. It changes nothing.
func checkDatabase(ctx context.Context, path, table string) error {
	db, err := openCopy(path)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var result string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&result); err != nil || result != "ok" {
		return fmt.Errorf("%s: %w", filepath.Base(path), cmp.Or(err, errors.New(result)))
	}
	return checkTable(ctx, path, table)
}

// checkTable returns an error if a database lacks a table.
func checkTable(ctx context.Context, path, table string) error {
	if has, err := hasTable(ctx, path, table); err != nil || !has {
		return fmt.Errorf("%s: %w", filepath.Base(path), cmp.Or(err, fmt.Errorf("it lacks the table %s", table)))
	}
	return nil
}

// openCopy opens a database that nobody changes, which it does not change either.
func openCopy(path string) (*sql.DB, error) {
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro&immutable=1"}
	return sql.Open("sqlite", address.String())
}

func hasTable(ctx context.Context, path, table string) (bool, error) {
	db, err := openCopy(path)
	if err != nil {
		return false, err
	}
	var tables int
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = ?`, table).Scan(&tables)
	return tables > 0, errors.Join(err, db.Close())
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
	return b, b.checkDescription(folder)
}

// checkDescription returns an error if the description is not that of the files in the folder. A
// damaged one could leave out a part, and with it what the part is replaced by.
func (b *backup) checkDescription(folder string) error {
	_, err := os.Stat(filepath.Join(folder, backupRecords))
	_, listed := b.Files[backupAccounts]
	_, recordsListed := b.Files[backupRecords]
	switch {
	case b.Made.IsZero(), b.Files != nil && (!listed || b.Ledger && !recordsListed):
		return fmt.Errorf("%s does not describe a whole backup", filepath.Join(folder, backupContents))
	case err == nil && !b.Ledger:
		return fmt.Errorf("%s does not describe %s, which is in the folder", filepath.Join(folder, backupContents), backupRecords)
	}
	return nil
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
type move struct{ src, dst string }

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
func copyDatabase(src, dst string) error {
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return err
	}
	return journal.CopyFile(src, dst)
}

var _ accounting.StoreFiles = (*SQLite)(nil)

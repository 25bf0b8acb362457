package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
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

	// Files are the SHA-256 digests of the files, in hexadecimal digits, by their paths in the
	// folder. Backups of earlier versions lack them.
	Files map[string]string `json:"files,omitempty"`
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
		records := filepath.Join(folder, backupRecords)
		err := ledger.Copy(journals, folder, func() error { return snapshot(ctx, s.records, records) })
		if err == nil {
			made.Ledger, err = keepLedger(ctx, records)
		}
		if err != nil {
			return fmt.Errorf("copying the ledger: %w", err)
		}
		for _, dir := range journals {
			made.Journals = append(made.Journals, filepath.Base(dir))
		}
	}
	// The store comes last: a key without usage is possible, usage without its key is not.
	store := filepath.Join(folder, backupAccounts)
	err = snapshot(ctx, path, store)
	if err == nil {
		err = checkTable(ctx, store, accounts.state) // which the first start makes
	}
	if err != nil {
		return fmt.Errorf("copying the store: %w", err)
	}
	if made.Files, err = digests(folder); err != nil {
		return err
	}
	described, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, backupContents), append(described, '\n'), 0o600)
}

// keepLedger keeps a copy of the ledger if it has tables, and reports whether it does. A gateway that
// has just started for the first time has not made them yet: all its records are in the journals.
func keepLedger(ctx context.Context, path string) (kept bool, err error) {
	if kept, err = hasTable(ctx, path, records.state); err != nil || kept {
		return kept, err
	}
	return false, os.Remove(path)
}

// snapshot copies the database of a file, and replaces a copy of an earlier attempt.
func snapshot(ctx context.Context, src, dst string) error {
	if _, err := os.Stat(src); err != nil {
		return err
	}
	if err := os.Remove(dst); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := sql.Open("sqlite", (&file{path: src}).address())
	if err != nil {
		return err
	}
	return errors.Join(copyInto(ctx, db, dst), db.Close())
}

// digests returns the digests of the files in a folder, by their paths in it.
func digests(folder string) (files map[string]string, err error) {
	files = make(map[string]string)
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path == backupContents {
			return err
		}
		file, err := os.Open(filepath.Join(folder, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		digest := sha256.New()
		if _, err := io.Copy(digest, file); err != nil {
			return err
		}
		files[path] = hex.EncodeToString(digest.Sum(nil))
		return nil
	})
	return files, err
}

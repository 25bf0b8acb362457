package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// copyAttempts bounds how often Copy begins anew.
const copyAttempts = 10

// Copy copies the ledger of a database, which gateways may be using: snapshot copies the
// database, and each journal is copied to a directory of its name in a folder. Each record
// that had ended when Copy was called is in the copy once. It is in the snapshot, or behind
// the position in the journal up to which the snapshot has the records. So the journals are
// copied after the database; if a segment has been removed in the meantime, the snapshot may
// lack its last records, and Copy begins anew.
func Copy(journals []string, folder string, snapshot func() error) error {
	for range copyAttempts {
		err := copyOnce(journals, folder, snapshot)
		if !errors.Is(err, journal.ErrRemoved) {
			return err
		}
		for _, dir := range journals {
			if err := os.RemoveAll(copyOf(dir, folder)); err != nil {
				return fmt.Errorf("copying journal: %w", err)
			}
		}
	}
	return journal.ErrRemoved
}

func copyOnce(journals []string, folder string, snapshot func() error) error {
	firsts := make([]uint64, len(journals))
	for i, dir := range journals {
		var err error
		if firsts[i], err = journal.First(dir); err != nil {
			return fmt.Errorf("copying journal: %w", err)
		}
	}
	if err := snapshot(); err != nil {
		return err
	}
	for i, dir := range journals {
		if err := journal.Copy(dir, copyOf(dir, folder), firsts[i]); err != nil {
			return err
		}
	}
	return nil
}

// copyOf returns the directory of the copy of a journal.
func copyOf(dir, folder string) string { return filepath.Join(folder, filepath.Base(dir)) }

// Journals returns the existing directories of journals: that of the options, or else the
// usual one and those of further processes.
func Journals(configured, usual string) (existing []string) {
	dirs := siblings(usual)
	if configured != "" {
		dirs = []string{configured}
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			existing = append(existing, dir)
		}
	}
	return existing
}

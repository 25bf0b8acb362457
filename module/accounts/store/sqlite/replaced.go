package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"time"
)

// A file may be replaced while it is open, for example by a backup. SQLite finds the
// write-ahead log only by its name, and would apply the log of the old file to the new
// file.

// inodes identifies the open files of a database, even after they were renamed.
type inodes struct {
	database, wal fs.FileInfo // wal may be nil
}

// The suffixes of the other files of a database.
const (
	walSuffix   = "-wal"
	indexSuffix = "-shm" // index of the write-ahead log
)

func (f *file) inodes(database fs.FileInfo) *inodes {
	log, err := os.Stat(f.path + walSuffix)
	if err != nil {
		log = nil
	}
	return &inodes{database, log}
}

// Moved implements database.Backend. An open database is never empty. An empty file
// therefore counts as another one, although SQLite may still answer from its cache.
func (f *file) Moved() bool {
	opened := f.opened.Load()
	if opened == nil {
		return false
	}
	info, err := os.Stat(f.path)
	return err != nil || info.Size() == 0 || !os.SameFile(opened.database, info)
}

// checkpointTimeout bounds the duration of Disconnect without the running statements.
const checkpointTimeout = 3 * time.Second

// Disconnect implements database.Backend. If the file has moved, Disconnect writes the
// write-ahead log to it, and removes the log, so that SQLite does not apply the log to the
// file that has replaced it. If no file has replaced it yet, the database stays open until
// the next Connect or Close, because the same file may come back and need its log.
func (f *file) Disconnect(db *sql.DB) error {
	if !f.Moved() {
		return db.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkpointTimeout)
	defer cancel()
	if err := f.checkpoint(ctx, db); errors.Is(err, fs.ErrNotExist) {
		f.left = db
		return nil
	}
	return db.Close() // also if the checkpoint failed: the disk of the file may be gone
}

// leave closes the database that Disconnect has left open. The caller has found a file at
// the path again. If it is another file, leave removes the log first.
func (f *file) leave(ctx context.Context) error {
	if f.left != nil && f.Moved() {
		if err := f.checkpoint(ctx, f.left); errors.Is(err, fs.ErrNotExist) {
			return err // the file has vanished again
		}
	}
	return f.Close()
}

// Close implements database.Backend.
func (f *file) Close() error {
	left := f.left
	if f.left = nil; left == nil {
		return nil
	}
	return left.Close()
}

// checkpoint empties the log, in case the file comes back, and removes the log if another
// file has the path of the database. It holds the lock of the old file, so that only one
// process at a time removes the log: another process may already have created the log of
// the new file.
func (f *file) checkpoint(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // the transaction only holds the lock
	if _, err := os.Stat(f.path); err != nil {
		return err
	}
	return f.removeLog()
}

// removeLog removes the log of the open file, unless another file has the name of the log.
// It must be called before the log is closed, because the inode could then be reused for
// another file.
func (f *file) removeLog() error {
	log, err := os.Stat(f.path + walSuffix)
	if opened := f.opened.Load(); err != nil || opened.wal == nil || !os.SameFile(opened.wal, log) {
		return err
	}
	_ = os.Remove(f.path + indexSuffix) // first: without a log, SQLite creates a new index
	return os.Remove(f.path + walSuffix)
}

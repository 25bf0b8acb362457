package sqlite

import (
	"context"
	"database/sql"
	"io/fs"
	"os"
	"time"
)

// What is in the place of a file may be another one, such as a copy that was
// restored. SQLite finds the log of changes that were written ahead by its name
// alone, and would take that of the old file for a part of the new one.

// inodes are the files of a database, whatever their names are by now.
type inodes struct {
	database, ahead fs.FileInfo // ahead may be nil
}

// The names of the files beside the database, which SQLite gives them.
const (
	ahead = "-wal"
	index = "-shm" // of ahead
)

func (f *file) inodes(database fs.FileInfo) *inodes {
	log, err := os.Stat(f.path + ahead)
	if err != nil {
		log = nil
	}
	return &inodes{database, log}
}

// Moved implements database.Backend. The file that is there now is the database
// from then on. A file that was open is never empty; one that has become so is
// another one, although SQLite may answer from memory for a while.
func (f *file) Moved() bool {
	opened := f.opened.Load()
	if opened == nil {
		return false
	}
	info, err := os.Stat(f.path)
	return err != nil || info.Size() == 0 || !os.SameFile(opened.database, info)
}

// finishing bounds how long Disconnect may take, beside what runs.
const finishing = 3 * time.Second

// Disconnect implements database.Backend. A file that has moved gets what was
// written ahead of it, and what is in its place by now gets nothing of that.
func (f *file) Disconnect(db *sql.DB) error {
	if f.Moved() {
		ctx, cancel := context.WithTimeout(context.Background(), finishing)
		defer cancel()
		_ = f.settle(ctx, db) // its disk may be gone
	}
	return db.Close()
}

// settle leaves the log empty, in case that the file comes back, and takes it
// away from beside another one. The lock of the old file keeps processes from
// taking away what the quickest of them has begun for the new one.
func (f *file) settle(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // there is nothing to commit
	if _, err := os.Stat(f.path); err != nil {
		return err
	}
	return f.forget()
}

// forget removes the log of the file that was open, unless there is another one
// by now. It is called before the log is closed: afterwards another file could
// pass for it.
func (f *file) forget() error {
	log, err := os.Stat(f.path + ahead)
	if opened := f.opened.Load(); err != nil || opened.ahead == nil || !os.SameFile(opened.ahead, log) {
		return err
	}
	_ = os.Remove(f.path + index) // before the log, without which it is made anew
	return os.Remove(f.path + ahead)
}

package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver of this name

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

//go:embed migrations ledger
var migrations embed.FS

// schema identifies the tables of a database: the folder of their migrations, and the
// table with their version.
type schema struct{ folder, state string }

var (
	accounts = schema{"migrations", "gateway_state"}
	records  = schema{"ledger", "gateway_ledger_state"}
)

// connections is the size of the pool. The pool keeps all connections open, because a
// connection that is opened later could open another file with the same path.
const connections = 4

// settings are the settings of every connection. Writers wait at most three seconds for
// other processes, so that methods return within seconds. With FULL, a change is on the
// disk before its call returns. With NORMAL, a power cut could revert the last changes,
// and make a revoked key valid again. A connection caches at most 512 KiB of the file: the
// allocator of the driver needs twice as much memory, and the system caches the file, too.
var settings = url.Values{
	"mode":    {"rw"}, // SQLite would create a file that other users can read
	"_txlock": {"immediate"},
	"_pragma": {"busy_timeout(3000)", "foreign_keys(1)", "synchronous(FULL)", "cache_size(-512)"},
}

// file is the database of one path.
type file struct {
	schema
	path    string
	pragmas []string               // pragmas of every connection, in addition to settings
	opened  atomic.Pointer[inodes] // the files that Connect has opened; nil before Connect
	left    *sql.DB                // the database of a file that vanished, or nil
}

// Identity implements database.Backend.
func (f *file) Identity() string { return "sqlite " + f.path }

// Dialect implements database.Backend.
func (f *file) Dialect() database.Dialect {
	files, err := fs.Sub(migrations, f.folder)
	if err != nil {
		panic(err) // the name is a constant
	}
	return database.Dialect{
		Bind:       bind,
		Prepare:    true,
		State:      f.state,
		Exists:     `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '` + f.state + `'`,
		Migrations: files,
	}
}

// Connect implements database.Backend.
func (f *file) Connect(ctx context.Context) (*sql.DB, error) {
	if err := f.create(); err != nil {
		return nil, err
	}
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	if err := f.leave(ctx); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", f.address())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := f.prepare(ctx, db); err != nil {
		_ = db.Close() // the first error is returned
		return nil, err
	}
	f.opened.Store(f.inodes(info))
	return db, nil
}

// address returns the URI of the file for the driver.
func (f *file) address() string {
	query := maps.Clone(settings)
	query["_pragma"] = slices.Concat(query["_pragma"], f.pragmas)
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(f.path), RawQuery: query.Encode()}
	return address.String()
}

// create creates the file and its folder if they are missing. It creates nothing after
// Connect has opened the file once, because an empty file in place of a vanished one would
// revoke all keys. It does not open an existing file, because closing it again would
// release the locks of SQLite.
func (f *file) create() error {
	if f.opened.Load() != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	created, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return created.Close()
}

// errForeign is the error for the database of another program.
var errForeign = errors.New("the file is the database of another program: restore the file of this gateway, or set another path for the store")

// prepare checks that the file is a database of the gateway. It then enables write-ahead
// logging, with which readers and writers do not wait for each other. The setting is
// stored in the file.
func (f *file) prepare(ctx context.Context, db *sql.DB) error {
	foreign := `SELECT count(*) > 0 AND sum(name = '` + f.state + `') = 0 FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'`
	var isForeign bool
	if err := db.QueryRowContext(ctx, foreign).Scan(&isForeign); err != nil {
		return err
	}
	if isForeign {
		return errForeign
	}
	return enableWAL(ctx, db)
}

// lockPause is how long enableWAL waits for another process.
const lockPause = 10 * time.Millisecond

// enableWAL enables write-ahead logging. SQLite does not wait for the lock that this needs:
// if other processes enable it as well, or use the file, enableWAL tries again until the
// context ends.
func enableWAL(ctx context.Context, db *sql.DB) error {
	for {
		var mode string
		err := db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode)
		if err == nil && mode != "wal" {
			err = db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		}
		if !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lockPause):
		}
	}
}

// Backup implements database.Backend. It writes the backup to the folder of the file.
func (f *file) Backup(ctx context.Context, db *sql.DB, version int) error {
	return copyInto(ctx, db, fmt.Sprintf("%s.v%d-%s.bak", f.path, version, time.Now().UTC().Format("20060102T150405.000Z")))
}

// copyInto copies a database, which other processes may be writing, to a new file that only
// its owner can read. Its error does not contain the name, because a name that differs in
// each attempt would be logged each time.
func copyInto(ctx context.Context, db *sql.DB, name string) error {
	made, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return errors.Unwrap(err)
	}
	if err = made.Close(); err == nil {
		_, err = db.ExecContext(ctx, `VACUUM INTO ?`, name)
	}
	if err != nil {
		_ = os.Remove(name) // the copy is incomplete
	}
	return err
}

// Warning implements database.Backend. The file contains the hashes of all passwords.
// File modes have no meaning on Windows.
func (f *file) Warning() string {
	info, err := os.Stat(f.path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("other users of this machine can open %s: its mode is %04o; set it to 0600", f.path, info.Mode().Perm())
}

// Listen implements database.Backend. Files have no notifications.
func (*file) Listen(context.Context, func()) {}

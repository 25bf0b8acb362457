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
	"strings"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the driver of this name

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

//go:embed migrations
var migrations embed.FS

// connections bounds how many the pool has, and keeps: those that read never
// wait, and those that were opened later could be of another file in its place.
const connections = 4

// settings are those of every connection. Writers wait for another process at
// most three seconds, so that a method returns within some seconds. With FULL
// a change is on the disk when it is answered: NORMAL would lose the last ones
// in a power cut, and a revoked key could be valid again.
var settings = url.Values{
	"mode":    {"rw"}, // never made by SQLite, which would let others read it
	"_txlock": {"immediate"},
	"_pragma": {"busy_timeout(3000)", "foreign_keys(1)", "synchronous(FULL)"},
}

// file is a database in a file.
type file struct {
	path    string
	pragmas []string               // of every connection, beside the settings
	opened  atomic.Pointer[inodes] // what Connect found; nil before
}

// Identity implements database.Backend.
func (f *file) Identity() string { return "sqlite " + f.path }

// Dialect implements database.Backend.
func (*file) Dialect() database.Dialect {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is a constant
	}
	return database.Dialect{
		Bind:       func(query string) string { return strings.ReplaceAll(query, "$", "?") },
		State:      "gateway_state",
		Exists:     `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'gateway_state'`,
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
	db, err := sql.Open("sqlite", f.address())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := prepare(ctx, db); err != nil {
		_ = db.Close() // the first error says more
		return nil, err
	}
	f.opened.Store(f.inodes(info))
	return db, nil
}

// address is the file as the driver is told of it.
func (f *file) address() string {
	query := maps.Clone(settings)
	query["_pragma"] = slices.Concat(query["_pragma"], f.pragmas)
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(f.path), RawQuery: query.Encode()}
	return address.String()
}

// create makes the file and its folder if they are missing, but not those that
// were there before: an empty file in the place of one that vanished, with its
// disk maybe, would revoke all keys. A file that exists is not opened: closing
// it would take away the locks that SQLite holds on it.
func (f *file) create() error {
	if f.opened.Load() != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	made, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return made.Close()
}

// errForeign is returned for a database that is not of this gateway.
var errForeign = errors.New("the file is a database of another program: put the one of this gateway in its place, or give the store another path")

// prepare checks what the file is before it changes anything in it, and then
// has changes written ahead, so that who reads and who writes do not wait for
// each other. That setting stays in the file.
func prepare(ctx context.Context, db *sql.DB) error {
	const foreign = `SELECT count(*) > 0 AND sum(name = 'gateway_state') = 0 FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'`
	var isForeign bool
	if err := db.QueryRowContext(ctx, foreign).Scan(&isForeign); err != nil {
		return err
	}
	if isForeign {
		return errForeign
	}
	var mode string
	if err := db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil || mode == "wal" {
		return err
	}
	return db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
}

// Backup implements database.Backend. The copy lies beside the file.
func (f *file) Backup(ctx context.Context, db *sql.DB, version int) error {
	name := fmt.Sprintf("%s.v%d-%s.bak", f.path, version, time.Now().UTC().Format("20060102T150405.000Z"))
	made, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return errors.Unwrap(err) // without the name, which is another one at each try
	}
	if err = made.Close(); err == nil {
		_, err = db.ExecContext(ctx, `VACUUM INTO ?`, name)
	}
	if err != nil {
		_ = os.Remove(name) // it is no copy of anything
	}
	return err
}

// Warning implements database.Backend. Who reads the file has the hashes of all
// passwords. Its mode means nothing on Windows.
func (f *file) Warning() string {
	info, err := os.Stat(f.path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	return fmt.Sprintf("%s is open to other users of this machine: its mode is %04o, and 0600 is enough", f.path, info.Mode().Perm())
}

// Listen implements database.Backend: a file tells nobody of changes.
func (*file) Listen(context.Context, func()) {}

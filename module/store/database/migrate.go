package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// errNewer is returned for a database that a later version of the gateway made.
type errNewer struct{ found, known int }

func (e errNewer) Error() string {
	return fmt.Sprintf("the database has schema version %d, made by a newer gateway; this one knows up to %d and leaves it as it is", e.found, e.known)
}

// errEmptied is returned for a database without tables where there was one with
// them: an accident of a disk or of a shell. New tables in it would revoke every
// key, and be in the way of whoever puts a copy back.
var errEmptied = errors.New("the database has become empty: put a copy of it back in its place; after a restart the gateway would begin with a new one")

// migrate brings a database to the newest version of the schema. Others may do
// the same at the same time.
func (d *Database) migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Glob(d.dialect.Migrations, "*.sql")
	if err != nil {
		return err
	}
	slices.Sort(files)
	version, err := d.dialect.version(d.Statements(ctx, db))
	switch {
	case err != nil:
		return err
	case version > len(files):
		return errNewer{version, len(files)}
	case version == 0 && d.migrated.Load():
		return errEmptied
	case version < len(files):
		err = d.runMigrations(ctx, db, files)
	}
	if err == nil {
		d.migrated.Store(true)
	}
	return err
}

// version returns 0 for a database without tables.
func (d Dialect) version(in Statements) (int, error) {
	if exists, err := in.Number(d.Exists); err != nil || exists == 0 {
		return 0, err
	}
	version, err := in.Number(`SELECT version FROM ` + d.State)
	return int(version), err
}

// runMigrations runs all migrations that are missing in one transaction, so
// that nobody ever meets a version in between.
func (d *Database) runMigrations(ctx context.Context, db *sql.DB, files []string) error {
	// Whoever asked would give up before a large database is copied, and so
	// would everybody after.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), migrationTimeout)
	defer cancel()
	return d.transact(ctx, db, d.dialect.LockSchema, func(tx Statements) error {
		version, err := d.dialect.version(tx)
		switch {
		case err != nil:
			return err
		case version > len(files):
			return errNewer{version, len(files)}
		case version == len(files): // somebody else was quicker
			return nil
		}
		if version > 0 {
			if err := d.backend.Backup(ctx, db, version); err != nil {
				return fmt.Errorf("keeping a copy before the migration: %w", err)
			}
		}
		return d.dialect.apply(tx, files[version:], len(files))
	})
}

// apply runs migrations, after which the database has a version.
func (d Dialect) apply(tx Statements, files []string, version int) error {
	for _, name := range files {
		script, err := fs.ReadFile(d.Migrations, name)
		if err == nil {
			err = tx.Script(string(script))
		}
		if err != nil {
			return fmt.Errorf("running migration %s: %w", name, err)
		}
	}
	return tx.Change(`UPDATE `+d.State+` SET version = $1`, version)
}

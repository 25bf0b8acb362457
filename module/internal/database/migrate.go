package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// errNewer is the error for a database with the schema of a newer gateway.
type errNewer struct{ stored, known int }

func (e errNewer) Error() string {
	return fmt.Sprintf("the database has the schema version %d of a newer gateway, but this gateway supports versions up to %d", e.stored, e.known)
}

// errEmptied is the error for a database that had tables before and has none now, for
// example after a mistyped command. New tables would revoke every key, and operators
// would have to remove them before restoring a backup.
var errEmptied = errors.New("the database has become empty: restore a backup; a restarted gateway would create a new database")

// migrate migrates a database to the newest version of the schema. Several processes
// may do so at the same time.
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

// version returns the version of the schema, 0 for a database without tables.
func (d Dialect) version(db Statements) (int, error) {
	if exists, err := db.Number(d.Exists); err != nil || exists == 0 {
		return 0, err
	}
	version, err := db.Number(`SELECT version FROM ` + d.State)
	return int(version), err
}

// runMigrations runs the missing migrations in one transaction, so that other processes
// never see a version in between.
func (d *Database) runMigrations(ctx context.Context, db *sql.DB, files []string) error {
	// The timeouts of callers are too short for the backup of a large database.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), migrationTimeout)
	defer cancel()
	return d.transact(ctx, db, d.dialect.LockSchema, func(tx Statements) error {
		version, err := d.dialect.version(tx)
		switch {
		case err != nil:
			return err
		case version > len(files):
			return errNewer{version, len(files)}
		case version == len(files): // another process has migrated the database
			return nil
		}
		if version > 0 {
			if err := d.backend.Backup(ctx, db, version); err != nil {
				return fmt.Errorf("copying the database before the migration: %w", err)
			}
		}
		return d.dialect.apply(tx, files[version:], len(files))
	})
}

// apply runs migrations, and sets the version of the schema.
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

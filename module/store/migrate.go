package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// errNewer is returned for a database that a later version of the gateway made.
type errNewer struct{ found, known int }

func (e errNewer) Error() string {
	return fmt.Sprintf("the database has schema version %d, made by a newer gateway; this one knows up to %d and leaves it as it is", e.found, e.known)
}

// migrate brings a database to the newest version of the schema, one version
// in each transaction. Others may do the same at the same time.
func (s *Store) migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Glob(s.dialect.Migrations, "*.sql")
	if err != nil {
		return err
	}
	slices.Sort(files)
	version, err := s.dialect.version(s.dialect.statements(ctx, db))
	for err == nil && version < len(files) {
		version, err = s.migrateOnce(ctx, db, files)
	}
	if err == nil && version > len(files) {
		return errNewer{version, len(files)}
	}
	return err
}

// version returns 0 for a database without tables.
func (d Dialect) version(in statements) (int, error) {
	if exists, err := in.number(d.Exists); err != nil || exists == 0 {
		return 0, err
	}
	version, err := in.number(`SELECT version FROM gateway_state`)
	return int(version), err
}

// migrateOnce runs the next migration, unless somebody else ran the last one
// in the meantime, and returns the version that the database has then.
func (s *Store) migrateOnce(ctx context.Context, db *sql.DB, files []string) (version int, err error) {
	err = s.transact(ctx, db, s.dialect.LockSchema, func(tx statements) error {
		if version, err = s.dialect.version(tx); err != nil || version >= len(files) {
			return err
		}
		if version > 0 {
			if err := s.backend.Backup(ctx, db, version); err != nil {
				return fmt.Errorf("keeping a copy before the migration: %w", err)
			}
		}
		version, err = s.dialect.apply(tx, files, version)
		return err
	})
	return version, err
}

// apply runs the migration that follows a version.
func (d Dialect) apply(tx statements, files []string, version int) (int, error) {
	script, err := fs.ReadFile(d.Migrations, files[version])
	if err != nil {
		return version, err
	}
	if err := tx.script(string(script)); err != nil {
		return version, fmt.Errorf("running migration %s: %w", path.Base(files[version]), err)
	}
	return version + 1, tx.change(`UPDATE gateway_state SET version = $1`, version+1)
}

package rows

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver of this name
)

// errDSN replaces the errors of the driver, which contain parts of the DSN.
var errDSN = errors.New("connecting to the database: the server cannot be reached with this DSN, or refuses it")

// postgres reads tables in a transaction that only reads.
func (b *book) postgres(ctx context.Context, dsn string, names []string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return errDSN
	}
	defer conn.Close(ctx)
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing was written
	for _, table := range names {
		name := pgx.Identifier{table}.Sanitize()
		var exists bool
		if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&exists); err != nil {
			return fmt.Errorf("reading %s: %w", table, err)
		}
		if !exists {
			continue
		}
		b.tables[table] = []json.RawMessage{}
		rows, err := tx.Query(ctx, "SELECT to_jsonb(t)::text FROM "+name+" t ORDER BY 1")
		if err != nil {
			return fmt.Errorf("reading %s: %w", table, err)
		}
		var text string
		if _, err = pgx.ForEachRow(rows, []any{&text}, func() error { return b.addText(table, json.RawMessage(text)) }); err != nil {
			return fmt.Errorf("reading %s: %w", table, err)
		}
	}
	return nil
}

// sqlite reads tables of a file, which the process of the other product may have open.
func (b *book) sqlite(ctx context.Context, path string, names []string) error {
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: "mode=ro&_pragma=busy_timeout(3000)"}
	db, err := sql.Open("sqlite", address.String())
	if err != nil {
		return fmt.Errorf("opening the source: %w", err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	for _, table := range names {
		var exists bool
		if err := tx.QueryRowContext(ctx, "SELECT count(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = ?", table).Scan(&exists); err != nil {
			return fmt.Errorf("reading the source: %w", err)
		}
		if !exists {
			continue
		}
		b.tables[table] = []json.RawMessage{}
		if err := b.selectAll(ctx, tx, table); err != nil {
			return fmt.Errorf("reading %s: %w", table, err)
		}
	}
	return nil
}

// selectAll reads the rows of a table. The name is one of this program.
func (b *book) selectAll(ctx context.Context, tx *sql.Tx, table string) error {
	rows, err := tx.QueryContext(ctx, `SELECT * FROM "`+table+`"`)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		row := map[string]any{}
		for i, column := range columns {
			if raw, ok := values[i].([]byte); ok {
				values[i] = string(raw)
			}
			row[column] = values[i]
		}
		if err := b.add(table, row); err != nil {
			return err
		}
	}
	return rows.Err()
}

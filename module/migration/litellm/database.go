package litellm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Tables are the rows of the database that become keys and limits. Each row is an object in
// JSON, so that columns that other versions do not have are absent members.
type Tables struct {
	Keys, Deprecated, Users, Teams, Memberships, Organizations, Budgets, Models []json.RawMessage
}

// errDSN replaces the errors of the driver, which contain parts of the DSN.
var errDSN = errors.New("connecting to the database: the server cannot be reached with this DSN, or refuses it")

// Query reads the tables from a PostgreSQL database, as of one moment, without changing it. A
// table that does not exist is empty, but for that of keys. Errors do not contain the DSN.
func Query(ctx context.Context, dsn string) (*Tables, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, errDSN
	}
	defer conn.Close(ctx)
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // nothing was written
	var t Tables
	for _, from := range [...]struct {
		table string
		rows  *[]json.RawMessage
	}{
		{"LiteLLM_VerificationToken", &t.Keys},
		{"LiteLLM_DeprecatedVerificationToken", &t.Deprecated},
		{"LiteLLM_UserTable", &t.Users},
		{"LiteLLM_TeamTable", &t.Teams},
		{"LiteLLM_TeamMembership", &t.Memberships},
		{"LiteLLM_OrganizationTable", &t.Organizations},
		{"LiteLLM_BudgetTable", &t.Budgets},
		{"LiteLLM_ProxyModelTable", &t.Models},
	} {
		if *from.rows, err = read(ctx, tx, from.table); err != nil {
			return nil, fmt.Errorf("reading %s: %w", from.table, err)
		}
	}
	if t.Keys == nil {
		return nil, errors.New("the database has no table LiteLLM_VerificationToken")
	}
	return &t, nil
}

// read returns the rows of a table, in an order that depends on them alone; nil if there is no
// such table.
func read(ctx context.Context, tx pgx.Tx, table string) ([]json.RawMessage, error) {
	name := pgx.Identifier{table}.Sanitize()
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", name).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := tx.Query(ctx, "SELECT to_jsonb(t)::text FROM "+name+" t ORDER BY 1")
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	objects := []json.RawMessage{}
	for _, text := range all {
		objects = append(objects, json.RawMessage(text))
	}
	return objects, err
}

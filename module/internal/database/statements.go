package database

import (
	"context"
	"database/sql"
)

// Querier is a database, or a transaction in it.
type Querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Statements runs SQL statements with the parameters $1, $2 and so on. It is valid only
// during one call of a method of Database, whose context it uses.
type Statements struct {
	ctx      context.Context
	querier  Querier
	bind     func(string) string
	prepared prepared // nil if statements are not prepared
}

// Statements returns the Statements that run in a database or in a transaction.
func (d *Database) Statements(ctx context.Context, querier Querier) Statements {
	bind := d.dialect.Bind
	if bind == nil {
		bind = func(query string) string { return query }
	}
	return Statements{ctx: ctx, querier: querier, bind: bind}
}

// Exec runs a statement, and returns the number of changed rows.
func (s Statements) Exec(query string, args ...any) (int64, error) {
	querier, err := s.statement(query)
	if err != nil {
		return 0, err
	}
	result, err := querier.ExecContext(s.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Change runs a statement that changes one row. It returns sql.ErrNoRows if no row was
// changed.
func (s Statements) Change(query string, args ...any) error {
	n, err := s.Exec(query, args...)
	if err == nil && n == 0 {
		err = sql.ErrNoRows
	}
	return err
}

// Script runs statements without parameters. The text may be empty.
func (s Statements) Script(text string) error {
	if text == "" {
		return nil
	}
	_, err := s.querier.ExecContext(s.ctx, text)
	return err
}

// Row runs a query for one row.
func (s Statements) Row(query string, args ...any) *sql.Row {
	return s.querier.QueryRowContext(s.ctx, s.bind(query), args...)
}

// Number runs a query for one number.
func (s Statements) Number(query string, args ...any) (n int64, err error) {
	err = s.Row(query, args...).Scan(&n)
	return n, err
}

// Scanner is a row of a result.
type Scanner interface{ Scan(...any) error }

// Each calls read for every row of a result.
func (s Statements) Each(read func(Scanner) error, query string, args ...any) error {
	querier, err := s.statement(query)
	if err != nil {
		return err
	}
	rows, err := querier.QueryContext(s.ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

package store

import (
	"context"
	"database/sql"
)

// querier is a database, or a transaction in it.
type querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// statements runs statements, as long as its context lasts: that of one call of
// a method of the Store.
type statements struct {
	ctx  context.Context
	on   querier
	bind func(string) string
}

func (d Dialect) statements(ctx context.Context, on querier) statements {
	bind := d.Bind
	if bind == nil {
		bind = func(query string) string { return query }
	}
	return statements{ctx, on, bind}
}

// exec returns how many rows were changed.
func (s statements) exec(query string, args ...any) (int64, error) {
	result, err := s.on.ExecContext(s.ctx, s.bind(query), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// change is exec for a change of one row, and sql.ErrNoRows without that row.
func (s statements) change(query string, args ...any) error {
	n, err := s.exec(query, args...)
	if err == nil && n == 0 {
		err = sql.ErrNoRows
	}
	return err
}

// script runs statements without parameters; none if it is empty.
func (s statements) script(text string) error {
	if text == "" {
		return nil
	}
	_, err := s.on.ExecContext(s.ctx, text)
	return err
}

func (s statements) row(query string, args ...any) *sql.Row {
	return s.on.QueryRowContext(s.ctx, s.bind(query), args...)
}

// number returns a result of one number.
func (s statements) number(query string, args ...any) (n int64, err error) {
	err = s.row(query, args...).Scan(&n)
	return n, err
}

// scanner is a row that can be read.
type scanner interface{ Scan(...any) error }

// each calls read for every row of a result.
func (s statements) each(read func(scanner) error, query string, args ...any) error {
	rows, err := s.on.QueryContext(s.ctx, s.bind(query), args...)
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

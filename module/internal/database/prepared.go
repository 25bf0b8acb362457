package database

import (
	"context"
	"database/sql"
)

// prepared are the prepared statements of a transaction, by their text before
// Dialect.Bind. The end of the transaction closes them.
type prepared map[string]*sql.Stmt

// statement is a statement without its arguments.
type statement interface {
	ExecContext(context.Context, ...any) (sql.Result, error)
	QueryContext(context.Context, ...any) (*sql.Rows, error)
}

// unprepared is a statement whose text the driver gets for each run.
type unprepared struct {
	querier Querier
	query   string
}

func (u unprepared) ExecContext(ctx context.Context, args ...any) (sql.Result, error) {
	return u.querier.ExecContext(ctx, u.query, args...)
}

func (u unprepared) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return u.querier.QueryContext(ctx, u.query, args...)
}

// preparing returns the Statements of a transaction. If the dialect has Prepare, they
// prepare each text once.
func (d *Database) preparing(ctx context.Context, tx *sql.Tx) Statements {
	statements := d.Statements(ctx, tx)
	if d.dialect.Prepare {
		statements.prepared = make(prepared)
	}
	return statements
}

// statement returns the statement with a text, prepared if s prepares statements.
func (s Statements) statement(query string) (statement, error) {
	if s.prepared == nil {
		return unprepared{s.querier, s.bind(query)}, nil
	}
	if known := s.prepared[query]; known != nil {
		return known, nil
	}
	made, err := s.querier.(*sql.Tx).PrepareContext(s.ctx, s.bind(query))
	if err != nil {
		return nil, err
	}
	s.prepared[query] = made
	return made, nil
}

package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

const (
	// keepHours is the time for which sums by hour are kept.
	keepHours = 400 * 24 * time.Hour
	// maxDeleted is the largest number of rows of a table that one transaction deletes.
	// Other transactions wait for it.
	maxDeleted = 500
	// maxPrunes is the largest number of transactions of one call of Prune.
	maxPrunes = 40
)

// Prune deletes old records and old sums by hour. The ledger calls it every minute.
func (l *Ledger) Prune(ctx context.Context) {
	now := time.Now()
	oldest := periodBegin(idAt(now.AddDate(0, 0, -l.options.Load().Records)))
	for range maxPrunes {
		deleted := int64(0)
		err := l.db.Transact(ctx, "deleting old records", func(tx database.Statements) (err error) {
			deleted, err = deleteOld(tx, oldest, now.Add(-keepHours).UnixMilli())
			return err
		})
		if err != nil && ctx.Err() == nil {
			l.pruning.Begin(l.logger, "old records cannot be deleted", err)
		}
		if err != nil {
			return
		}
		l.pruning.End(l.logger, "old records can be deleted again")
		if deleted < maxDeleted {
			return
		}
	}
}

// deletion is a statement that deletes what is older than a bound, so many rows at most.
type deletion struct {
	text  string
	bound int64
}

// deleteOld deletes at most maxDeleted rows of each table. It returns the largest number
// of rows that were deleted from one table.
func deleteOld(tx database.Statements, oldest, hours int64) (last int64, err error) {
	statements := []deletion{
		{`DELETE FROM gateway_ledger_corrections WHERE id IN
			(SELECT id FROM gateway_ledger_corrections WHERE id < $1 ORDER BY id LIMIT $2)`, oldest},
		{`DELETE FROM gateway_ledger_settled WHERE id IN
			(SELECT id FROM gateway_ledger_settled WHERE id < $1 ORDER BY id LIMIT $2)`, oldest},
		{`DELETE FROM gateway_ledger_owners WHERE last IN (SELECT last FROM gateway_ledger_pages WHERE last < $1 ORDER BY last LIMIT $2)`, oldest},
		{`DELETE FROM gateway_ledger_pages WHERE last IN (SELECT last FROM gateway_ledger_pages WHERE last < $1 ORDER BY last LIMIT $2)`, oldest},
		{`DELETE FROM gateway_usage_labels WHERE span = 1 AND at IN
			(SELECT at FROM gateway_usage_labels WHERE span = 1 AND at < $1 ORDER BY at LIMIT $2)`, hours},
	}
	for _, level := range levels {
		statements = append(statements, deletion{fmt.Sprintf(`DELETE FROM gateway_usage WHERE span = %d AND at IN
			(SELECT at FROM gateway_usage WHERE span = %[1]d AND at < $1 ORDER BY at LIMIT $2)`, hour+level.spans), hours})
	}
	for _, statement := range statements {
		n, err := tx.Exec(statement.text, statement.bound, maxDeleted)
		if err != nil {
			return last, err
		}
		last = max(last, n)
	}
	return last, nil
}

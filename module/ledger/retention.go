package ledger

import (
	"context"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

const (
	// keepHours is how long sums of hours are kept.
	keepHours = 400 * 24 * time.Hour
	// pruneAtOnce is how many rows of a table one transaction deletes: others wait for it.
	pruneAtOnce = 500
	// mostPrunes is how many transactions run in a row.
	mostPrunes = 40
)

// Prune deletes records that are too old, and sums of hours, as the ledger does every
// minute by itself.
func (l *Ledger) Prune(ctx context.Context) {
	now := time.Now()
	oldest := periodBegin(idAt(now.AddDate(0, 0, -l.options.Load().Records)))
	for range mostPrunes {
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
		if deleted < pruneAtOnce {
			return
		}
	}
}

// deleteOld returns how many rows of the table with the most it has deleted.
func deleteOld(tx database.Statements, oldest, hours int64) (most int64, err error) {
	for _, statement := range []struct {
		text  string
		bound int64
	}{
		{`DELETE FROM gateway_ledger_corrections WHERE id IN
			(SELECT id FROM gateway_ledger_corrections WHERE id < $1 ORDER BY id LIMIT $2)`, oldest},
		{`DELETE FROM gateway_ledger_owners WHERE last IN (SELECT last FROM gateway_ledger_pages WHERE last < $1 ORDER BY last LIMIT $2)`, oldest},
		{`DELETE FROM gateway_ledger_pages WHERE last IN (SELECT last FROM gateway_ledger_pages WHERE last < $1 ORDER BY last LIMIT $2)`, oldest},
		{`DELETE FROM gateway_usage WHERE span = 1 AND at IN
			(SELECT at FROM gateway_usage WHERE span = 1 AND at < $1 ORDER BY at LIMIT $2)`, hours},
		{`DELETE FROM gateway_usage WHERE span = 4 AND at IN
			(SELECT at FROM gateway_usage WHERE span = 4 AND at < $1 ORDER BY at LIMIT $2)`, hours},
	} {
		n, err := tx.Exec(statement.text, statement.bound, pruneAtOnce)
		if err != nil {
			return most, err
		}
		most = max(most, n)
	}
	return most, nil
}

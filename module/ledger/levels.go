package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// level is a kind of rows of gateway_usage: those that have some of the columns, and the sum over
// all names of the others, whose ids are 0. A query reads the rows of the first level that has
// its columns: a month by hour and model has far fewer rows without keys than with them.
type level struct {
	spans   span                // is added to the span of the rows
	columns []string            // besides currency, which all levels have
	reduce  func(rowKey) rowKey // returns a key without the other columns
}

// The levels, the one with the fewest rows first. The numbers are in the database.
var levels = [...]level{
	{3, nil, func(k rowKey) rowKey { return rowKey{span: k.span, start: k.start, currency: k.currency} }},
	{6, strings.Fields("limit_name model provider upstream outcome"), func(k rowKey) rowKey {
		k.key, k.user = 0, 0
		return k
	}},
	{9, strings.Fields("limit_name api_key holder outcome"), func(k rowKey) rowKey {
		k.model, k.provider, k.upstream = 0, 0, 0
		return k
	}},
	{0, strings.Fields("limit_name api_key holder model provider upstream outcome"), func(k rowKey) rowKey { return k }},
}

// levelOf returns the level whose rows a query reads for some columns. The rows of begin and later
// are read; before levelled, only the last level has rows.
func levelOf(columns []string, begin, levelled time.Time) level {
	if begin.Before(levelled) {
		return levels[len(levels)-1]
	}
	i := slices.IndexFunc(levels[:], func(l level) bool {
		return !slices.ContainsFunc(columns, func(column string) bool { return !slices.Contains(l.columns, column) })
	})
	return levels[i]
}

// levelRange is the time whose rows one transaction of fillLevels writes. Other transactions wait
// for it.
const levelRange = time.Hour

// levelling is whether all levels have their rows, and why they cannot be written.
type levelling struct {
	done   bool
	outage database.Outage
}

// fillLevels writes rows of the levels that a database of an earlier version does not have, the
// latest first, and wakes the applier until all are there. The migration does not write them: of
// many records, that takes many seconds, in which nobody could use the database.
func (a *applier) fillLevels(ctx context.Context) {
	if a.levelling.done {
		return
	}
	done := false
	err := a.ledger.db.Transact(ctx, "adding up earlier sums", func(tx database.Statements) (err error) {
		done, err = fillLevel(tx)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			a.levelling.outage.Begin(a.ledger.logger, "earlier sums cannot be added up; queries for them take longer", err)
		}
		return
	}
	a.levelling.outage.End(a.ledger.logger, "earlier sums can be added up again")
	if a.levelling.done = done; !done {
		a.ledger.journal.Wake()
	}
}

// fillLevel writes the rows of the latest levelRange that lacks them, and reports whether all
// ranges have them now. Rows that were added since the migration are part of the sums.
func fillLevel(tx database.Statements) (done bool, err error) {
	levelled, err := tx.Number(`SELECT levelled FROM gateway_ledger_state`)
	if err != nil || levelled == 0 {
		return err == nil, err
	}
	latest, err := tx.Number(`SELECT COALESCE(MAX(at), -1) FROM (
		SELECT MAX(at) AS at FROM gateway_usage WHERE span = 1 AND at < $1 UNION ALL
		SELECT MAX(at) FROM gateway_usage WHERE span = 2 AND at < $1 UNION ALL
		SELECT MAX(at) FROM gateway_usage WHERE span = 3 AND at < $1) AS latest`, levelled)
	if err != nil {
		return false, err
	}
	begin := max(0, latest-latest%levelRange.Milliseconds())
	for _, level := range levels[:len(levels)-1] {
		if err := level.fill(tx, begin, levelled); err != nil {
			return false, err
		}
	}
	return begin == 0, tx.Change(`UPDATE gateway_ledger_state SET levelled = $1`, begin)
}

// fill writes the rows of a level whose time begins at or after a time and before another.
func (l level) fill(tx database.Statements, begin, end int64) error {
	columns := slices.Clone(usageTable.key[2:])
	for i, column := range columns {
		if column != currencies.column && !slices.Contains(l.columns, column) {
			columns[i] = "0"
		}
	}
	sums := make([]string, len(sumColumns))
	for i, column := range sumColumns {
		sums[i] = "CAST(SUM(" + column + ") AS BIGINT)"
	}
	for _, span := range spans {
		if _, err := tx.Exec(fmt.Sprintf(`DELETE FROM gateway_usage WHERE span = %d AND at >= $1 AND at < $2`, span+l.spans), begin, end); err != nil {
			return err
		}
		if _, err := tx.Exec(fmt.Sprintf(`INSERT INTO gateway_usage (%s) SELECT %d, at, %s FROM gateway_usage WHERE span = %d AND at >= $1 AND at < $2 GROUP BY %s`,
			strings.Join(slices.Concat(usageTable.key, sumColumns), ", "), span+l.spans, strings.Join(slices.Concat(columns, sums), ", "),
			span, strings.Join(slices.Concat([]string{"at", currencies.column}, l.columns), ", ")), begin, end); err != nil {
			return err
		}
	}
	return nil
}

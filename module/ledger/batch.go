package ledger

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// batch is a list of records that one transaction writes, ordered by id.
type batch []entry

// entry is a record that has ended.
type entry struct {
	id   int64  // in the database
	text []byte // the encoded record
}

// sort orders the records by id. The journal contains them in the order of their ends.
func (b batch) sort() { slices.SortFunc(b, func(x, y entry) int { return cmp.Compare(x.id, y.id) }) }

// absent returns the records that are not in the database: the whole batch, unless the
// mark of the journal was set back.
func (b batch) absent(tx database.Statements) (batch, error) {
	present := make(map[int64]bool)
	for start := 0; start < len(b); {
		end, _ := slices.BinarySearchFunc(b, periodEnd(b[start].id)+1, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
		if err := findPresent(tx, b[start].id, b[end-1].id, present); err != nil {
			return nil, err
		}
		start = end
	}
	isPresent := func(e entry) bool { return present[e.id] }
	if len(present) == 0 || !slices.ContainsFunc(b, isPresent) {
		return b, nil
	}
	return slices.DeleteFunc(slices.Clone(b), isPresent), nil
}

// findPresent adds to present the ids of all pages that may contain ids between first and
// last. Both are of the same node and the same period.
func findPresent(tx database.Statements, first, last int64, present map[int64]bool) error {
	return tx.Each(func(row database.Scanner) error {
		var p page
		if err := row.Scan(&p.first, &p.records); err != nil {
			return err
		}
		return p.each(func(id int64, _ []byte) error {
			present[id] = true
			return nil
		})
	}, `SELECT first, records FROM gateway_ledger_pages WHERE last >= $1 AND last <= $2 AND first <= $3 AND `+nodeOfLast+` = $4`,
		first, periodEnd(first), last, nodeOf(first))
}

// nodeOfLast is nodeOf(last) in SQL.
var nodeOfLast = `((last >> ` + strconv.Itoa(sequenceBits) + `) & ` + strconv.Itoa(maxNodes) + `)`

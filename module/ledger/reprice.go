package ledger

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// recordsPerReprice is the number of records that one transaction of Reprice reads.
const recordsPerReprice = 500

// Reprice implements accounting.LedgerRepricer. It needs a transaction for each page of
// records, and begins with the newest page.
func (r *Reader) Reprice(ctx context.Context, q accounting.RepriceQuery) ([]accounting.Repriced, error) {
	changes := make(changes)
	for last := idAt(q.To); last > 0; {
		var page accounting.RecordPage
		var list []correction
		read := func(db database.Statements) (err error) {
			page, err = readRecords(db, accounting.RecordQuery{Before: last, From: q.From, Limit: recordsPerReprice})
			if err == nil {
				list, err = corrections(db, page.Records, q.Price)
			}
			return err
		}
		if err := r.reprice(ctx, q.DryRun, read, &list); err != nil {
			return nil, err
		}
		changes.add(list)
		last = page.Before
	}
	return changes.list(), nil
}

// reprice runs read, and writes the corrections that read has stored in list. A dry run
// writes nothing.
func (r *Reader) reprice(ctx context.Context, dryRun bool, read func(database.Statements) error, list *[]correction) error {
	const action = "correcting costs"
	if dryRun {
		return r.db.Query(ctx, action, read)
	}
	return r.db.Transact(ctx, action, func(tx database.Statements) error {
		if err := read(tx); err != nil || len(*list) == 0 {
			return err
		}
		return writeCorrections(tx, *list)
	})
}

// correction is a new cost of a call.
type correction struct {
	record *accounting.Record
	call   int
	number int64 // 1 for the first correction of the call
	old    accounting.Call
	new    accounting.Call
}

// corrections returns the corrections of the calls whose cost has changed. It skips calls
// that used nothing, calls whose usage is unknown, those whose provider stated the cost, and sums. A
// part of a cost does not replace the whole.
func corrections(db database.Statements, records []accounting.Record, price accounting.Pricer) (list []correction, err error) {
	last, err := lastCorrections(db, records)
	if err != nil {
		return nil, err
	}
	for i := range records {
		r := &records[i]
		for n := range r.Calls {
			c := correction{record: r, call: n, old: r.Calls[n], number: 1}
			if corrected, ok := last[callID{r.ID, n}]; ok {
				c.number, c.old = corrected.number+1, repriced(c.old, corrected.charge)
			}
			if c.old.Source == accounting.SourceNone || c.old.Source == accounting.SourceCached || c.old.Source == accounting.SourceReserved || c.old.CostSource == accounting.CostStated || isSum(r, &c.old) {
				continue
			}
			charge, ok := price(r, &c.old)
			if charge.Source == accounting.CostInPart && c.old.Priced() {
				continue
			}
			if c.new = repriced(c.old, charge); ok && chargeOf(&c.new) != chargeOf(&c.old) {
				list = append(list, c)
			}
		}
	}
	return list, nil
}

// isSum reports whether a call of a record is the sum of the calls of a batch: the price of each of them
// depends on its own tokens.
func isSum(r *accounting.Record, c *accounting.Call) bool {
	return r.Operation == accounting.OperationBatch && c.Priced()
}

// repriced returns a call with another cost. Nothing is held for what is known of it.
func repriced(c accounting.Call, charge accounting.Charge) accounting.Call {
	held := aigateway.Cost{}
	if charge.Source == accounting.CostInPart && c.Held.Currency == charge.Cost.Currency {
		held = aigateway.Cost{Nanos: max(0, c.Held.Nanos+c.Cost.Nanos-charge.Cost.Nanos), Currency: c.Held.Currency}
	}
	c.Price, c.Cost, c.CostSource, c.Held, c.Corrected = charge.Price, charge.Cost, charge.Source, held, true
	return c
}

// chargeOf returns the cost of a call with its price.
func chargeOf(c *accounting.Call) accounting.Charge {
	return accounting.Charge{Price: c.Price, Cost: c.Cost, Source: c.CostSource}
}

// inPart follows the name of the price in a correction that is a part of the cost. Earlier
// versions show it as a part of the name.
const inPart = " (in part)"

// priceText returns the text for the price of the correction.
func (c *correction) priceText() string {
	if c.new.CostSource == accounting.CostInPart {
		return c.new.Price + inPart
	}
	return c.new.Price
}

// readCorrected returns the price and the source for the text of a correction.
func readCorrected(text string) (price string, source accounting.CostSource) {
	price, part := strings.CutSuffix(text, inPart)
	if part {
		source = accounting.CostInPart
	}
	return price, source
}

type callID struct {
	record int64
	call   int
}

// corrected is a correction that was read from the database.
type corrected struct {
	number int64
	charge accounting.Charge
}

// correct sets the costs and prices of calls to those of their last corrections.
func correct(db database.Statements, records []accounting.Record) error {
	last, err := lastCorrections(db, records)
	for i := range records {
		for n, c := range records[i].Calls {
			if corrected, ok := last[callID{records[i].ID, n}]; ok {
				records[i].Calls[n] = repriced(c, corrected.charge)
			}
		}
	}
	return err
}

// lastCorrections returns the last correction of each corrected call.
func lastCorrections(db database.Statements, records []accounting.Record) (map[callID]corrected, error) {
	last := make(map[callID]corrected)
	for some := range slices.Chunk(records, rowsPerStatement) {
		var ids []any
		for i := range some {
			ids = append(ids, some[i].ID)
		}
		err := db.Each(func(row database.Scanner) error {
			var id callID
			var c corrected
			var price string
			err := row.Scan(&id.record, &id.call, &c.number, &price, &c.charge.Cost.Nanos, &c.charge.Cost.Currency)
			c.charge.Price, c.charge.Source = readCorrected(price)
			last[id] = c
			return err
		}, `SELECT c.id, c.call, c.number, p.name, c.cost, u.name FROM gateway_ledger_corrections c
			JOIN gateway_names p ON p.id = c.price JOIN gateway_names u ON u.id = c.currency
			WHERE c.id IN `+placeholders(1, len(ids))+` ORDER BY c.id, c.call, c.number`, ids...)
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// writeCorrections writes corrections, and adds the differences to the sums.
func writeCorrections(tx database.Statements, list []correction) error {
	state, err := readState(tx)
	if err != nil {
		return err
	}
	sums := make(sums)
	for _, c := range list {
		c.addDifference(sums)
	}
	texts := sums.texts()
	for _, c := range list {
		texts[c.priceText()] = configured
	}
	known := make(names)
	if err := known.add(tx, texts); err != nil {
		return err
	}
	if err := insertRows(tx, correctionsTable, "", correctionRows(list, known)); err != nil {
		return err
	}
	return sums.write(tx, known, state.zone)
}

// correctionsTable is the table of corrections, with its columns.
const correctionsTable = `gateway_ledger_corrections (id, call, number, at, price, currency, cost)`

// correctionRows returns the rows of correctionsTable for corrections that are made now.
func correctionRows(list []correction, known names) (rows [][]any) {
	now := time.Now().UnixMilli()
	for _, c := range list {
		rows = append(rows, []any{
			c.record.ID, int64(c.call), c.number, now, known.id(c.priceText()), known.id(c.new.Cost.Currency), c.new.Cost.Nanos,
		})
	}
	return rows
}

// addDifference subtracts the old call from the sums, and adds the new one.
func (c *correction) addDifference(sums sums) {
	var old accounting.Usage
	addCall(&old, &c.old)
	for _, sum := range sumsOf(&old) {
		*sum = -*sum
	}
	for g := range groupsOf(c.record) {
		addSums(sums.usageOf(g.withCall(&c.old)), &old)
		addCall(sums.usageOf(g.withCall(&c.new)), &c.new)
	}
}

// changes are the sums of corrections. The key is a Repriced without amounts and counts.
type changes map[accounting.Repriced]*accounting.Repriced

func (all changes) add(list []correction) {
	for _, c := range list {
		key := accounting.Repriced{
			Provider: c.new.Provider, Model: c.new.Model, OldPrice: c.old.Price, NewPrice: c.new.Price,
			Old: aigateway.Cost{Currency: currency(&c.old)}, New: aigateway.Cost{Currency: c.new.Cost.Currency},
		}
		if all[key] == nil {
			sum := key
			all[key] = &sum
		}
		sum := all[key]
		sum.Calls++
		sum.New.Nanos = plus(sum.New.Nanos, c.new.Cost.Nanos)
		if c.old.Cost.Currency != "" {
			sum.Old.Nanos = plus(sum.Old.Nanos, c.old.Cost.Nanos)
		}
	}
}

// list returns the changes, ordered by provider, model and prices.
func (all changes) list() (list []accounting.Repriced) {
	for _, change := range all {
		list = append(list, *change)
	}
	slices.SortFunc(list, func(a, b accounting.Repriced) int {
		return cmp.Or(
			strings.Compare(a.Provider, b.Provider), strings.Compare(a.Model, b.Model),
			strings.Compare(a.OldPrice, b.OldPrice), strings.Compare(a.NewPrice, b.NewPrice),
			strings.Compare(a.Old.Currency, b.Old.Currency),
		)
	})
	return list
}

var _ accounting.LedgerRepricer = (*Reader)(nil)

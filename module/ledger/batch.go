package ledger

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// batch is the records that one transaction applies, in the order of their ids.
type batch []entry

// entry is a record that has ended.
type entry struct {
	id     int64  // in the database
	text   []byte // the record as the journal has it
	record *aigateway.Record
}

// sort orders the records, which the journal has in the order of their ends.
func (b batch) sort() { slices.SortFunc(b, func(x, y entry) int { return cmp.Compare(x.id, y.id) }) }

// apply writes the records that the database does not have yet, and adds them to the
// sums.
func (b batch) apply(tx database.Statements, known names, zone *time.Location) error {
	b, pages, err := b.absent(tx)
	if err != nil {
		return err
	}
	known.limit()
	if err := known.add(tx, b.texts(known)); err != nil {
		return err
	}
	if err := insertPages(tx, pages, known); err != nil {
		return err
	}
	return insert(tx, usageTable, usageExists, b.sums(known, zone))
}

// absent returns the records that the database does not have, and their pages. That is
// the whole batch, unless the mark of the journal was set back.
func (b batch) absent(tx database.Statements) (batch, []page, error) {
	pages := pagesOf(b)
	present := make(map[int64]bool)
	for i := range pages {
		if err := pages[i].findPresent(tx, present); err != nil {
			return nil, nil, err
		}
	}
	isPresent := func(e entry) bool { return present[e.id] }
	if len(present) == 0 || !slices.ContainsFunc(b, isPresent) {
		return b, pages, nil
	}
	b = slices.DeleteFunc(slices.Clone(b), isPresent)
	return b, pagesOf(b), nil
}

// findPresent collects the ids in those pages of the same journal that overlap with this
// one.
func (p *page) findPresent(tx database.Statements, present map[int64]bool) error {
	return tx.Each(func(row database.Scanner) error {
		var other page
		if err := row.Scan(&other.first, &other.records); err != nil {
			return err
		}
		return other.each(func(id int64, _ []byte) error {
			present[id] = true
			return nil
		})
	}, `SELECT first, records FROM gateway_ledger_pages WHERE last >= $1 AND last <= $2 AND first <= $3 AND `+nodeOfLast+` = $4`,
		p.first, periodEnd(p.first), p.last, nodeOf(p.first))
}

// nodeOfLast is nodeOf in SQL.
var nodeOfLast = `((last >> ` + strconv.Itoa(sequenceBits) + `) & ` + strconv.Itoa(mostNodes) + `)`

// insertPages writes pages, and whose records they have.
func insertPages(tx database.Statements, pages []page, known names) error {
	var owners [][]any
	for i := range pages {
		p := &pages[i]
		_, err := tx.Exec(`INSERT INTO gateway_ledger_pages (last, first, records) VALUES ($1, $2, $3)`, p.last, p.first, p.records)
		if err != nil {
			return err
		}
		for o := range p.owners {
			owners = append(owners, []any{p.last, o.kind, known.id(o.name)})
		}
	}
	return insert(tx, `gateway_ledger_owners (last, kind, name)`, ` ON CONFLICT DO NOTHING`, owners)
}

// texts returns the texts of the sums, and of the owners of pages, that have no known id.
func (b batch) texts(known names) map[string]textKind {
	texts := make(map[string]textKind)
	note := func(text string, kind textKind) {
		if _, ok := known[text]; ok {
			return
		}
		if _, ok := texts[text]; !ok || kind == configured {
			texts[text] = kind
		}
	}
	for _, e := range b {
		r := e.record
		note(r.Key, configured)
		note(r.User, configured)
		note(r.Limit, configured)
		note(r.Outcome, configured)
		note(r.Model, chosen)
		for i := range r.Calls {
			c := &r.Calls[i]
			note(c.Provider, configured)
			note(currency(c), configured)
			note(c.Model, chosen)
		}
	}
	return texts
}

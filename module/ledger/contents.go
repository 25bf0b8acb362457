package ledger

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// contents are what a batch adds to the database, beside the records of its pages.
type contents struct {
	pages      []page // without their records
	sums       sums
	unreadable int // number of records that could not be decoded
}

// contents returns the contents of the batch. It calls insert for each page, whose records
// use the given memory, and are valid until insert returns.
func (b batch) contents(interned internedNames, memory []byte, insert func(*page) error) (contents, error) {
	c := contents{sums: make(sums)}
	var r accounting.Record
	var p page
	for _, e := range b {
		if err := readRecord(&r, e.text, interned); err != nil {
			c.unreadable++
			continue
		}
		if len(p.records) == 0 || !p.accepts(e.id) {
			if err := c.add(p, insert); err != nil {
				return c, err
			}
			p = newPage(e.id, memory)
		}
		p.add(e, &r)
		r.Admitted = timeOf(e.id)
		c.sums.addRecord(&r)
	}
	return c, c.add(p, insert)
}

// add adds a page, unless it has no records.
func (c *contents) add(p page, insert func(*page) error) error {
	if len(p.records) == 0 {
		return nil
	}
	err := insert(&p)
	p.records = nil
	c.pages = append(c.pages, p)
	return err
}

// write writes the owners of the pages, and adds the sums to the sums of the database.
func (c *contents) write(tx database.Statements, known names, zone *time.Location) error {
	known.limit()
	if err := known.add(tx, c.sums.texts()); err != nil {
		return err
	}
	if err := insertRows(tx, `gateway_ledger_owners (last, kind, name)`, ` ON CONFLICT DO NOTHING`, c.owners(known)); err != nil {
		return err
	}
	return c.sums.write(tx, known, zone)
}

// owners returns the rows of the owners of all pages.
func (c *contents) owners(known names) (rows [][]any) {
	for _, p := range c.pages {
		for o := range p.owners {
			rows = append(rows, []any{p.last, o.kind, known.id(o.name)})
		}
	}
	return rows
}

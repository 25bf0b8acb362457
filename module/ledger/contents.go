package ledger

import (
	"encoding/binary"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/database"
)

// contents are the pages and sums that a batch adds to the database.
type contents struct {
	pages      []page
	sums       sums
	unreadable int // number of records that could not be decoded
}

// contents returns the pages and sums of the batch.
func (b batch) contents(interned internedNames) contents {
	c := contents{sums: make(sums)}
	memory := b.memory()
	var r accounting.Record
	for _, e := range b {
		if err := readRecord(&r, e.text, interned); err != nil {
			c.unreadable++
			continue
		}
		n := len(c.pages)
		if n == 0 || !c.pages[n-1].accepts(e.id) {
			c.pages = append(c.pages, newPage(e.id, memory))
			n++
		}
		memory = c.pages[n-1].add(e, &r)
		r.Admitted = timeOf(e.id)
		c.sums.addRecord(&r)
	}
	return c
}

// memory returns an empty slice with room for all pages of the batch.
func (b batch) memory() []byte {
	size := 0
	for _, e := range b {
		size += 2*binary.MaxVarintLen64 + len(e.text)
	}
	return make([]byte, 0, size)
}

// write writes the pages and their owners, and adds the sums to the sums of the database.
func (c *contents) write(tx database.Statements, known names, zone *time.Location) error {
	known.limit()
	if err := known.add(tx, c.sums.texts()); err != nil {
		return err
	}
	if err := c.insertPages(tx, known); err != nil {
		return err
	}
	return c.sums.write(tx, known, zone)
}

func (c *contents) insertPages(tx database.Statements, known names) error {
	var owners [][]any
	for i := range c.pages {
		p := &c.pages[i]
		_, err := tx.Exec(`INSERT INTO gateway_ledger_pages (last, first, records) VALUES ($1, $2, $3)`, p.last, p.first, p.records)
		if err != nil {
			return err
		}
		for o := range p.owners {
			owners = append(owners, []any{p.last, o.kind, known.id(o.name)})
		}
	}
	return insertRows(tx, `gateway_ledger_owners (last, kind, name)`, ` ON CONFLICT DO NOTHING`, owners)
}

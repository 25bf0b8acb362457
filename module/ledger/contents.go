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

// contents returns the pages and sums of the batch. The pages use the memory after the end of
// memory, if there is enough.
func (b batch) contents(interned internedNames, memory []byte) contents {
	c := contents{sums: make(sums)}
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

// size returns the largest possible size of all pages of the batch, in bytes.
func (b batch) size() (bytes int) {
	for _, e := range b {
		bytes += 2*binary.MaxVarintLen64 + len(e.text)
	}
	return bytes
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

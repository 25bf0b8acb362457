package ledger

import (
	"encoding/binary"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// contents is what a batch adds to the database.
type contents struct {
	pages      []page
	sums       sums
	unreadable int // records that are in neither
}

// contents returns what the batch adds to the database.
func (b batch) contents(shared sharedNames) contents {
	c := contents{sums: make(sums)}
	room := b.room()
	r := aigateway.Record{Calls: []aigateway.Call{}}
	for _, e := range b {
		if err := readRecord(&r, e.text, shared); err != nil {
			c.unreadable++
			continue
		}
		n := len(c.pages)
		if n == 0 || !c.pages[n-1].takes(e.id) {
			c.pages = append(c.pages, newPage(e.id, room))
			n++
		}
		room = c.pages[n-1].add(e, &r)
		r.Admitted = timeOf(e.id)
		c.sums.addRecord(&r)
	}
	return c
}

// room returns memory for the pages of the batch.
func (b batch) room() []byte {
	size := 0
	for _, e := range b {
		size += 2*binary.MaxVarintLen64 + len(e.text)
	}
	return make([]byte, 0, size)
}

// write writes pages, and whose records they have, and adds the sums to those of the
// database.
func (c *contents) write(tx database.Statements, known names, zone *time.Location) error {
	known.limit()
	if err := known.add(tx, c.sums.texts()); err != nil {
		return err
	}
	if err := c.insertPages(tx, known); err != nil {
		return err
	}
	return insert(tx, usageTable, usageExists, c.sums.rows(known, zone))
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
	return insert(tx, `gateway_ledger_owners (last, kind, name)`, ` ON CONFLICT DO NOTHING`, owners)
}

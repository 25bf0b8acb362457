package ledger

import (
	"encoding/binary"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// page is what a row of the database has of single records: some records of one batch,
// in the order of their ids. Each of them is
//
//	uvarint  id, less that of the record before it, or less the first id of the page
//	uvarint  length of the record
//	         record, as the journal has it
//
// A row for each record, with its entries in the indexes, would cost the database about
// ten times as much.
type page struct {
	first, last int64 // ids
	records     []byte
	owners      map[owner]bool // with records in the page
}

// owner is a key or a user.
type owner struct {
	kind int64
	name string
}

// The kinds of owners.
const (
	keyOwner  = 1
	userOwner = 2
)

const (
	// pageSize is the size in bytes beyond which a page takes no more records.
	pageSize = 32 << 10
	// periodBits is the size of the part of an id that may differ within a page. The
	// records of a page were admitted in the same 65 seconds, so that pages that have
	// ids below a given one end in its period, or before.
	periodBits = 16 + nodeBits + sequenceBits
)

// periodBegin and periodEnd return the first and the last id of the period of an id.
func periodBegin(id int64) int64 { return id &^ (1<<periodBits - 1) }
func periodEnd(id int64) int64   { return id | (1<<periodBits - 1) }

// newPage returns a page whose first record has an id. It writes to the memory behind the
// end of room.
func newPage(first int64, room []byte) page {
	return page{first: first, last: first, records: room[len(room):], owners: make(map[owner]bool)}
}

// takes reports whether the page takes another record.
func (p *page) takes(id int64) bool { return len(p.records) < pageSize && id <= periodEnd(p.first) }

// add adds a record, and returns the page with the room behind it.
func (p *page) add(e entry, r *aigateway.Record) []byte {
	p.records = binary.AppendUvarint(p.records, uint64(e.id-p.last))
	p.records = binary.AppendUvarint(p.records, uint64(len(e.text)))
	p.records = append(p.records, e.text...)
	p.last = e.id
	p.owners[owner{keyOwner, r.Key}] = true
	p.owners[owner{userOwner, r.User}] = true
	return p.records
}

var errPage = errors.New("the database has a page of records that cannot be read")

// each calls visit for the records of the page, with their ids.
func (p *page) each(visit func(id int64, record []byte) error) error {
	id, rest := p.first, p.records
	for len(rest) > 0 {
		apart, n := binary.Uvarint(rest)
		length, m := binary.Uvarint(rest[max(0, n):])
		if n <= 0 || m <= 0 || length > uint64(len(rest)-n-m) {
			return errPage
		}
		id += int64(apart)
		record := rest[n+m:][:length]
		if err := visit(id, record); err != nil {
			return err
		}
		rest = rest[n+m+len(record):]
	}
	return nil
}

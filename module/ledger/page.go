package ledger

import (
	"encoding/binary"
	"errors"
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

// pagesOf returns the pages of records that are in the order of their ids.
func pagesOf(b batch) (pages []page) {
	for _, e := range b {
		n := len(pages)
		if n == 0 || len(pages[n-1].records) >= pageSize || e.id > periodEnd(pages[n-1].first) {
			pages = append(pages, page{first: e.id, last: e.id, owners: make(map[owner]bool)})
			n++
		}
		pages[n-1].add(e)
	}
	return pages
}

func (p *page) add(e entry) {
	p.records = binary.AppendUvarint(p.records, uint64(e.id-p.last))
	p.records = binary.AppendUvarint(p.records, uint64(len(e.text)))
	p.records = append(p.records, e.text...)
	p.last = e.id
	p.owners[owner{keyOwner, e.record.Key}] = true
	p.owners[owner{userOwner, e.record.User}] = true
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

package ledger

import (
	"encoding/binary"
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
)

// page contains some records of one batch, ordered by id, in one row of the database. Each
// record consists of
//
//	uvarint  the difference to the id before it, or to the first id of the page
//	uvarint  the length of the encoded record
//	         the encoded record
//
// A row for each record, with its entries in the indexes, would take about ten times as
// much space.
type page struct {
	first, last int64 // ids
	records     []byte
	owners      map[owner]bool // the keys and users that have records in the page
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
	// pageSize is the size in bytes above which a page accepts no more records.
	pageSize = 32 << 10
	// largestPage is the size in bytes of a page whose last record is as large as possible.
	largestPage = pageSize + 2*binary.MaxVarintLen64 + journal.MaxPayload
	// periodBits is the number of low bits in which the ids of a page may differ. The
	// records of a page were admitted in the same period of 65 seconds. So a page that
	// contains an id below a given one ends in the period of that id, or before.
	periodBits = 16 + nodeBits + sequenceBits
)

// periodBegin and periodEnd return the first and the last id of the period of an id.
func periodBegin(id int64) int64 { return id &^ (1<<periodBits - 1) }
func periodEnd(id int64) int64   { return id | (1<<periodBits - 1) }

// newPage returns a page for records from an id on. The page uses the memory.
func newPage(first int64, memory []byte) page {
	return page{first: first, last: first, records: memory[:0], owners: make(map[owner]bool)}
}

// accepts reports whether a record with an id can be added to the page.
func (p *page) accepts(id int64) bool { return len(p.records) < pageSize && id <= periodEnd(p.first) }

// add adds a record.
func (p *page) add(e entry, r *accounting.Record) {
	p.records = binary.AppendUvarint(p.records, uint64(e.id-p.last))
	p.records = binary.AppendUvarint(p.records, uint64(len(e.text)))
	p.records = append(p.records, e.text...)
	p.last = e.id
	p.owners[owner{keyOwner, r.Key}] = true
	p.owners[owner{userOwner, r.User}] = true
}

// insert inserts the page into the database.
func (p *page) insert(tx database.Statements) error {
	_, err := tx.Exec(`INSERT INTO gateway_ledger_pages (last, first, records) VALUES ($1, $2, $3)`, p.last, p.first, p.records)
	return err
}

var errPage = errors.New("the database contains a page of records that cannot be decoded")

// each calls visit for each record of the page.
func (p *page) each(visit func(id int64, record []byte) error) error {
	id, rest := p.first, p.records
	for len(rest) > 0 {
		difference, n := binary.Uvarint(rest)
		length, m := binary.Uvarint(rest[max(0, n):])
		if n <= 0 || m <= 0 || length > uint64(len(rest)-n-m) {
			return errPage
		}
		id += int64(difference)
		record := rest[n+m:][:length]
		if err := visit(id, record); err != nil {
			return err
		}
		rest = rest[n+m+len(record):]
	}
	return nil
}

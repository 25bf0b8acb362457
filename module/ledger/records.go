package ledger

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
)

// pagesPerStatement is the number of pages that one statement reads: about half a megabyte
// under load. Where records come one by one, each page contains one record.
const pagesPerStatement = 16

// The bounds of the work for one query. No index has the models, outcomes and requests of
// records, so a query for them reads all records of its time, its key or its user.
const (
	mostPages   = 2048   // at most 64 MiB
	mostRecords = 50_000 // that are decoded
)

// Records implements accounting.LedgerReader.
func (r *Reader) Records(ctx context.Context, q accounting.RecordQuery) (page accounting.RecordPage, err error) {
	err = r.db.Query(ctx, "reading records", func(db database.Statements) error {
		if page, err = readRecords(db, q); err != nil {
			return err
		}
		return correct(db, page.Records)
	})
	return page, err
}

// readRecords returns a page of records, without their corrections.
func readRecords(db database.Statements, q accounting.RecordQuery) (accounting.RecordPage, error) {
	q.Before = cmp.Or(q.Before, math.MaxInt64)
	if !q.To.IsZero() {
		q.Before = min(q.Before, idAt(q.To))
	}
	for _, text := range queryTexts(&q) {
		*text = database.Text(*text) // as in records; see clean
	}
	s := search{query: q, interned: make(internedNames)}
	if !q.From.IsZero() {
		s.smallest = idAt(q.From)
	}
	page, err := s.run(db)
	if err != nil {
		return page, err
	}
	return page, replaceSettled(db, page.Records)
}

// search reads pages, the newest first, until older pages cannot contain any of the wanted
// records, or its work reaches a bound. Pages may overlap, because exchanges end in another
// order than they begin.
type search struct {
	query    accounting.RecordQuery
	smallest int64 // the smallest id
	records  []accounting.Record
	pages    int // number of pages that were read
	decoded  int // number of records that were decoded
	interned internedNames
}

func (s *search) run(db database.Statements) (none accounting.RecordPage, err error) {
	for largest := periodEnd(s.query.Before - 1); ; {
		pages, err := s.readPages(db, largest)
		if err != nil {
			return none, err
		}
		for i := range pages {
			if err := s.add(&pages[i]); err != nil {
				return none, err
			}
		}
		if err := s.dropCheap(db); err != nil {
			return none, err
		}
		s.sort()
		if len(pages) < pagesPerStatement {
			return s.page(0), nil
		}
		oldest := pages[len(pages)-1].last // all unread pages end before it
		if len(s.records) > s.query.Limit && s.records[s.query.Limit-1].ID >= oldest {
			return s.page(0), nil
		}
		if s.exhausted() && oldest < s.query.Before { // later pages always make progress
			return s.page(oldest), nil
		}
		largest = oldest - 1
	}
}

// dropCheap drops the records that do not cost what the query asks for, after their corrections.
func (s *search) dropCheap(db database.Statements) error {
	if s.query.MinCost == 0 {
		return nil
	}
	if err := cmp.Or(replaceSettled(db, s.records), correct(db, s.records)); err != nil {
		return err
	}
	s.records = slices.DeleteFunc(s.records, func(r accounting.Record) bool { return r.Cost() < s.query.MinCost })
	return nil
}

// exhausted reports whether the work has reached a bound.
func (s *search) exhausted() bool { return s.pages >= mostPages || s.decoded >= mostRecords }

// sort orders the found records, and drops those that the page has no room for, except for
// one, which shows that another page follows.
func (s *search) sort() {
	slices.SortFunc(s.records, func(a, b accounting.Record) int { return cmp.Compare(b.ID, a.ID) })
	if len(s.records) > s.query.Limit+1 {
		s.records = slices.Delete(s.records, s.query.Limit+1, len(s.records))
	}
}

// page returns the found records with an id of at least oldest. If oldest is 0, all records
// of the query have been read, or enough for a page.
func (s *search) page(oldest int64) (page accounting.RecordPage) {
	page.Records, page.Before = s.records, oldest
	if n := slices.IndexFunc(s.records, func(r accounting.Record) bool { return r.ID < oldest }); n >= 0 {
		page.Records = s.records[:n]
	}
	if len(page.Records) > s.query.Limit {
		page.Records = page.Records[:s.query.Limit]
		page.Before = page.Records[s.query.Limit-1].ID
	}
	if page.Before != 0 {
		page.Since = timeOf(page.Before).UTC()
	}
	return page
}

// readPages reads the newest pages that end at or before the id upTo and may contain
// records of the search. CROSS JOIN makes SQLite read the owners first. Otherwise it would
// read every page.
func (s *search) readPages(db database.Statements, largest int64) (pages []page, err error) {
	clause, args := `gateway_ledger_pages p WHERE p.last <= $1 AND p.first < $2 AND p.last >= $4 ORDER BY p.last DESC`, []any{largest, s.query.Before, pagesPerStatement, s.smallest}
	if o := ownerOf(s.query); o.name != "" {
		clause = `gateway_ledger_owners o CROSS JOIN gateway_ledger_pages p
			WHERE p.last = o.last AND o.last <= $1 AND p.first < $2 AND o.last >= $4 AND o.kind = $5 AND o.name = ` + nameParam("$6") + ` ORDER BY o.last DESC`
		args = append(args, o.kind, o.name)
	}
	err = db.Each(func(row database.Scanner) error {
		var p page
		err := row.Scan(&p.first, &p.last, &p.records)
		pages = append(pages, p)
		return err
	}, `SELECT p.first, p.last, p.records FROM `+clause+` LIMIT $3`, args...)
	s.pages += len(pages)
	return pages, err
}

// ownerOf returns the owner whose pages contain all records of a query: the key, or else
// the user. The name of the owner is empty if the query selects neither.
func ownerOf(q accounting.RecordQuery) owner {
	if q.Key != "" {
		return owner{keyOwner, database.Text(q.Key)}
	}
	return owner{userOwner, database.Text(q.User)}
}

// add adds the records of a page that the search selects.
func (s *search) add(p *page) error {
	if !bytes.Contains(p.records, []byte(s.query.Request)) {
		return nil // a page contains its texts as they are, and few pages contain one request
	}
	wanted := s.query
	wanted.MinCost = 0 // a record may have another cost than at first: see dropCheap
	return p.each(func(id int64, text []byte) error {
		if id >= s.query.Before || id < s.smallest {
			return nil
		}
		r := new(accounting.Record)
		if err := readRecord(r, text, s.interned); err != nil {
			return err
		}
		s.decoded++
		r.ID, r.Admitted = id, timeOf(id).UTC()
		clean(r)
		if wanted.Selects(r) {
			s.records = append(s.records, *r)
		}
		return nil
	})
}

// queryTexts returns the texts that a query selects.
func queryTexts(q *accounting.RecordQuery) [13]*string {
	return [...]*string{
		&q.User, &q.Key, &q.KeyLimit, &q.Model, &q.Operation, &q.Format, &q.Outcome, &q.Request, &q.Provider, &q.Upstream,
		&q.Customer, &q.Tag.Name, &q.Tag.Value,
	}
}

// clean removes from texts the characters that databases cannot store, as the names of
// sums lack them too.
func clean(r *accounting.Record) {
	r.Request = database.Text(r.Request)
	for _, name := range recordNames(r) {
		*name = database.Text(*name)
	}
	for i := range r.Calls {
		for _, name := range callNames(&r.Calls[i]) {
			*name = database.Text(*name)
		}
	}
	for i := range r.Attempts {
		r.Attempts[i].Model = database.Text(r.Attempts[i].Model)
	}
	r.Customer = database.Text(r.Customer)
}

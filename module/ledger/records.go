package ledger

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
)

// pagesPerStatement is the number of pages that one statement reads: about half a megabyte
// under load. Where records come one by one, each page contains one record.
const pagesPerStatement = 16

// Records implements aigateway.LedgerReader.
func (r *Reader) Records(ctx context.Context, q aigateway.RecordQuery) (records []aigateway.Record, err error) {
	err = r.db.Query(ctx, "reading records", func(in database.Statements) error {
		records, err = readRecords(in, q)
		return err
	})
	return records, err
}

// readRecords reads pages, the newest first, until older pages cannot contain any of the
// wanted records. Pages may overlap, because exchanges end in another order than they begin.
func readRecords(in database.Statements, q aigateway.RecordQuery) (records []aigateway.Record, err error) {
	q.Before = cmp.Or(q.Before, math.MaxInt64)
	for upTo := periodEnd(q.Before - 1); ; {
		pages, err := readPages(in, q, upTo)
		if err != nil {
			return nil, err
		}
		for i := range pages {
			if records, err = pages[i].appendRecords(records, q); err != nil {
				return nil, err
			}
		}
		slices.SortFunc(records, func(a, b aigateway.Record) int { return cmp.Compare(b.ID, a.ID) })
		if len(pages) < pagesPerStatement {
			return records[:min(len(records), q.Limit)], nil
		}
		upTo = pages[len(pages)-1].last - 1
		if len(records) >= q.Limit && records[q.Limit-1].ID > upTo {
			return records[:q.Limit], nil
		}
	}
}

// readPages reads the newest pages that end at or before the id upTo and may contain
// records of the query. CROSS JOIN makes SQLite read the owners first. Otherwise it would
// read every page.
func readPages(in database.Statements, q aigateway.RecordQuery, upTo int64) (pages []page, err error) {
	from, args := `gateway_ledger_pages p WHERE p.last <= $1 AND p.first < $2 ORDER BY p.last DESC`, []any{upTo, q.Before, pagesPerStatement}
	if o := ownerOf(q); o.name != "" {
		from = `gateway_ledger_owners o CROSS JOIN gateway_ledger_pages p
			WHERE p.last = o.last AND o.last <= $1 AND p.first < $2 AND o.kind = $4 AND o.name = ` + nameParam("$5") + ` ORDER BY o.last DESC`
		args = append(args, o.kind, o.name)
	}
	err = in.Each(func(row database.Scanner) error {
		var p page
		err := row.Scan(&p.first, &p.last, &p.records)
		pages = append(pages, p)
		return err
	}, `SELECT p.first, p.last, p.records FROM `+from+` LIMIT $3`, args...)
	return pages, err
}

// ownerOf returns the owner whose pages contain all records of a query: the key, or else
// the user. The name of the owner is empty if the query selects neither.
func ownerOf(q aigateway.RecordQuery) owner {
	if q.Key != "" {
		return owner{keyOwner, database.Text(q.Key)}
	}
	return owner{userOwner, database.Text(q.User)}
}

// appendRecords appends the records of the page that a query selects.
func (p *page) appendRecords(records []aigateway.Record, q aigateway.RecordQuery) ([]aigateway.Record, error) {
	err := p.each(func(id int64, text []byte) error {
		if id >= q.Before {
			return nil
		}
		r, err := parseRecord(text)
		if err != nil {
			return err
		}
		r.ID, r.Admitted = id, timeOf(id).UTC()
		clean(r)
		if (q.Key == "" || r.Key == database.Text(q.Key)) && (q.User == "" || r.User == database.Text(q.User)) {
			records = append(records, *r)
		}
		return nil
	})
	return records, err
}

// clean removes from texts the characters that databases cannot store, as the names of
// sums lack them too.
func clean(r *aigateway.Record) {
	r.Request = database.Text(r.Request)
	for _, name := range recordNames(r) {
		*name = database.Text(*name)
	}
	for i := range r.Calls {
		for _, name := range callNames(&r.Calls[i]) {
			*name = database.Text(*name)
		}
	}
}

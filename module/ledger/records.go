package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/store/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Records implements aigateway.LedgerReader.
func (r *Reader) Records(ctx context.Context, q aigateway.RecordQuery) (records []aigateway.Record, err error) {
	err = r.db.Query(ctx, "reading records", func(in database.Statements) error {
		records, err = readPage(in, q)
		return err
	})
	return records, err
}

func readPage(in database.Statements, q aigateway.RecordQuery) ([]aigateway.Record, error) {
	page := newPage()
	if err := page.readRecords(in, q); err != nil || len(page.records) == 0 {
		return nil, err
	}
	if err := page.readCalls(in); err != nil {
		return nil, err
	}
	return page.named(in)
}

// page is a page of records whose texts are not known yet.
type page struct {
	records []*aigateway.Record // the newest first
	byID    map[int64]*aigateway.Record
	ids     map[int64]bool // of texts
	texts   []textOf
}

// textOf is where the text of an id goes.
type textOf struct {
	id int64
	to *string
}

func newPage() *page {
	return &page{byID: make(map[int64]*aigateway.Record), ids: make(map[int64]bool)}
}

// wants notes ids that were read, and where their texts go.
func (p *page) wants(ids []int64, to ...*string) {
	for i, id := range ids {
		p.ids[id] = true
		p.texts = append(p.texts, textOf{id, to[i]})
	}
}

func (p *page) readRecords(in database.Statements, q aigateway.RecordQuery) error {
	query := `SELECT id, request, stream, status, ttfb, duration, api_key, holder, limit_name, model, operation, format, outcome
		FROM gateway_ledger WHERE id < $1`
	args := []any{cmp.Or(q.Before, math.MaxInt64)}
	for column, text := range map[string]string{"holder": q.User, "api_key": q.Key} {
		if text != "" {
			args = append(args, database.Text(text))
			query += " AND " + column + " = " + nameParam("$"+strconv.Itoa(len(args)))
		}
	}
	args = append(args, q.Limit)
	return in.Each(func(row database.Scanner) error {
		r := new(aigateway.Record)
		var stream int64
		ids := make([]int64, 7)
		into := append([]any{&r.ID, &r.Request, &stream, &r.Status, &r.FirstByte, &r.Duration}, pointers(ids)...)
		if err := row.Scan(into...); err != nil {
			return err
		}
		r.Stream, r.Admitted = stream != 0, timeOf(r.ID).UTC()
		p.wants(ids, &r.Key, &r.User, &r.Limit, &r.Model, &r.Operation, &r.Format, &r.Outcome)
		p.records = append(p.records, r)
		p.byID[r.ID] = r
		return nil
	}, query+" ORDER BY id DESC LIMIT $"+strconv.Itoa(len(args)), args...)
}

func pointers(ids []int64) (to []any) {
	for i := range ids {
		to = append(to, &ids[i])
	}
	return to
}

// scannedCall is a call as it is read, with the ids of its texts.
type scannedCall struct {
	record int64
	call   aigateway.Call
	ids    []int64
}

func (p *page) readCalls(in database.Statements) error {
	var all []*scannedCall
	for some := range slices.Chunk(p.records, rowsAtOnce) {
		var args []any
		for _, r := range some {
			args = append(args, r.ID)
		}
		err := in.Each(func(row database.Scanner) error {
			call, err := scanCall(row)
			all = append(all, call)
			return err
		}, `SELECT id, status, source, terms, fresh, cache_read, cache_write, cache_write_long, answer, reasoning, searches, cost, held,
			provider, upstream, answered, format, price, currency
			FROM gateway_ledger_calls WHERE id IN `+rowsOf(1, len(args))+` ORDER BY id, call`, args...)
		if err != nil {
			return err
		}
	}
	for _, call := range all {
		r := p.byID[call.record]
		r.Calls = append(r.Calls, call.call)
	}
	count := make(map[int64]int)
	for _, call := range all { // the slices do not grow any more
		c := &p.byID[call.record].Calls[count[call.record]]
		count[call.record]++
		p.wants(call.ids, &c.Provider, &c.Model, &c.Answered, &c.Format, &c.Price, &c.Cost.Currency)
	}
	return nil
}

func scanCall(row database.Scanner) (*scannedCall, error) {
	s := &scannedCall{ids: make([]int64, 6)}
	var source, terms int64
	var cost sql.NullInt64
	into := []any{&s.record, &s.call.Status, &source, &terms}
	for _, count := range tokenCounts(&s.call.Tokens) {
		into = append(into, count)
	}
	into = append(into, &cost, &s.call.Held.Nanos)
	err := row.Scan(append(into, pointers(s.ids)...)...)
	s.call.Source, s.call.Terms, s.call.Cost.Nanos = aigateway.Source(source), token.Terms(terms), cost.Int64
	return s, err
}

func (p *page) named(in database.Statements) (records []aigateway.Record, err error) {
	texts, err := textsOf(in, p.ids)
	if err != nil {
		return nil, err
	}
	for _, text := range p.texts {
		*text.to = texts[text.id]
	}
	for _, r := range p.records {
		for i := range r.Calls {
			r.Calls[i].Held.Currency = r.Calls[i].Cost.Currency
		}
		records = append(records, *r)
	}
	return records, nil
}

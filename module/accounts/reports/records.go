package reports

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// viewAttempts returns the attempts of a record. A call is repeated if its target was called
// before.
func viewAttempts(r *accounting.Record) []api.Attempt {
	course := r.Course()
	all := make([]api.Attempt, len(course))
	for i, a := range course {
		all[i] = api.Attempt{
			Provider: a.Provider, Model: a.Model, Format: a.Format, End: a.End, Status: a.Status, Duration: a.Duration.Milliseconds(),
		}
		for _, earlier := range all[:i] {
			if a.Format != "" && earlier.Format != "" && earlier.Provider == a.Provider && earlier.Model == a.Model {
				all[i].Repeated = true
			}
		}
	}
	return all
}

func viewRecord(r *accounting.Record, zone *time.Location) api.Record {
	return api.Record{
		ID: strconv.FormatInt(r.ID, 10), Admitted: r.Admitted.In(zone).Format("2006-01-02T15:04:05.000Z07:00"),
		Request: r.Request, Key: r.Key, User: r.User, Limit: r.Limit, Model: r.Model, Operation: r.Operation, Format: r.Format,
		Stream: r.Stream, Status: r.Status, Outcome: r.Outcome, FirstByte: r.FirstByte.Milliseconds(), Duration: r.Duration.Milliseconds(),
		Calls: answer.Views(r.Calls, viewCall), Attempts: viewAttempts(r), Choice: r.Choice,
		Losses: append([]string{}, r.Losses...), AnswerLosses: append([]string{}, r.AnswerLosses...), Unchecked: append([]string{}, r.Unchecked...),
		Tags: append([]aigateway.Tag{}, r.Tags...), Customer: r.Customer, Batch: viewBatch(r.Batch), Reason: r.Reason,
	}
}

// viewBatch returns the numbers of the requests of a batch, nil if there are none.
func viewBatch(n accounting.BatchCounts) *api.BatchCounts {
	if n == (accounting.BatchCounts{}) {
		return nil
	}
	return &api.BatchCounts{Succeeded: n.Succeeded, Errored: n.Errored, Canceled: n.Canceled, Expired: n.Expired}
}

func viewCall(c *accounting.Call) api.Call {
	v := api.Call{
		Provider: c.Provider, Model: c.Model, Answered: c.Answered, Format: c.Format, Status: c.Status, Source: c.Source.String(), Finish: c.Finish.String(),
		Tokens: viewTokens(&c.Tokens), CacheWriteLong: c.Tokens.CacheWriteLong,
		Images: c.Units.Images, Seconds: c.Units.Seconds, Characters: c.Units.Characters, Queries: c.Units.Queries,
		ImageInput: int64(c.Units.ImageTokens.Input), ImageCacheRead: int64(c.Units.ImageTokens.CacheRead), ImageOutput: int64(c.Units.ImageTokens.Output),
		AudioInput: int64(c.Units.AudioTokens.Input), AudioCacheRead: int64(c.Units.AudioTokens.CacheRead), AudioOutput: int64(c.Units.AudioTokens.Output),
		Price: c.Price, CostSource: string(c.Costing()), CostNano: c.Cost.Nanos, Currency: c.Cost.Currency, HeldNano: c.Held.Nanos, SavedNano: c.Saved, Corrected: c.Corrected,
	}
	if v.Currency == "" {
		v.Currency = c.Held.Currency
	}
	return v
}

// The number of records in a page.
const (
	usualRecords   = 100
	largestRecords = 1000
)

// Records answers GET /api/v1/records. Users see their own records, administrators those
// of all users.
func (r Reports) Records(c *call.Call) (any, error) {
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	query, err := recordQuery(c, zone)
	if err != nil {
		return nil, err
	}
	lag := behind(c, reader)
	if c.URL.Query().Get("format") == "jsonl" {
		return r.recordLines(c, reader, query, zone)
	}
	asTable, err := wantsTable(c.Request)
	if err != nil {
		return nil, err
	}
	if asTable {
		return r.recordTable(c, reader, query, zone)
	}
	if order := c.URL.Query().Get("sort"); order != "" && order != "time" {
		return sorted(c, reader, query, order, lag, zone)
	}
	found, err := reader.Records(c.Context(), query)
	if err != nil {
		return nil, err
	}
	page := api.Page[api.Record]{Items: answer.Views(found.Records, func(r *accounting.Record) api.Record { return viewRecord(r, zone) })}
	if found.Before != 0 {
		page.Next = strconv.FormatInt(found.Before, 10)
	}
	return api.LedgerPage[api.Record]{Page: page, Lag: lag}, nil
}

// Record answers GET /api/v1/records/{id}. The record of another user does not exist for
// users.
func (r Reports) Record(c *call.Call) (any, error) {
	reader, zone, err := r.ledger(c.Context())
	if err != nil {
		return nil, err
	}
	query := accounting.RecordQuery{Before: c.ID() + 1, Limit: 1}
	if err := restrictRecords(c, &query); err != nil {
		return nil, err
	}
	found, err := reader.Records(c.Context(), query)
	switch {
	case err != nil:
		return nil, err
	case len(found.Records) == 0 || found.Records[0].ID != c.ID():
		return nil, aigateway.ErrNotFound
	}
	return viewRecord(&found.Records[0], zone), nil
}

// recordQuery reads the parameters from, to, limit and after, and those of recordFilter.
func recordQuery(c *call.Call, zone *time.Location) (q accounting.RecordQuery, err error) {
	if err := recordFilter(c, &q); err != nil {
		return q, err
	}
	if q.From, err = moment(c, "from", time.Time{}, zone); err != nil {
		return q, err
	}
	if q.To, err = moment(c, "to", time.Time{}, zone); err != nil {
		return q, err
	}
	if q.Limit, err = c.PageSize(usualRecords, largestRecords); err != nil {
		return q, err
	}
	if last := c.URL.Query().Get("after"); last != "" {
		if q.Before, err = strconv.ParseInt(last, 10, 64); err != nil || q.Before < 1 {
			return q, call.ErrCursor
		}
	}
	return q, restrictRecords(c, &q)
}

// restrictRecords is restrict for a query of records.
func restrictRecords(c *call.Call, q *accounting.RecordQuery) error {
	team, err := restrict(c, &q.User, &q.From)
	if team != "" {
		q.KeyLimit = team
	}
	return err
}

// recordFilter reads the parameters that are columns of records.
func recordFilter(c *call.Call, q *accounting.RecordQuery) (err error) {
	values := c.URL.Query()
	q.User, q.Key, q.Model = values.Get("user"), values.Get("key"), values.Get("model")
	q.Outcome, q.Request, q.KeyLimit = values.Get("outcome"), values.Get("request"), values.Get("limit_name")
	q.Operation, q.Format = values.Get("operation"), values.Get("client_format")
	q.Provider, q.Upstream = values.Get("provider"), values.Get("upstream_model")
	q.Customer = values.Get("customer")
	if err := leastAmounts(c, q); err != nil {
		return err
	}
	if tag := values.Get("tag"); tag != "" {
		if q.Tag, err = aigateway.ParseTag(tag); err != nil {
			return answer.Invalid("tag: %v", err)
		}
	}
	if q.Status, err = c.QueryNumber(0, "status"); err != nil {
		return err
	}
	if stream := values.Get("stream"); stream != "" {
		if stream != "true" && stream != "false" {
			return answer.Invalid("stream must be true or false")
		}
		q.Stream = new(stream == "true")
	}
	return nil
}

// leastAmounts reads the parameters min_duration_ms and min_cost_micro.
func leastAmounts(c *call.Call, q *accounting.RecordQuery) error {
	duration, err := c.QueryNumber(0, "min_duration_ms")
	if err != nil {
		return err
	}
	cost, err := c.QueryNumber(0, "min_cost_micro")
	if most := math.MaxInt64 / int(time.Millisecond); duration < 0 || cost < 0 || duration > most || cost > most {
		return answer.Invalid("min_duration_ms and min_cost_micro must be positive numbers below %d", most)
	}
	q.MinDuration, q.MinCost = time.Duration(duration)*time.Millisecond, int64(cost)*1000
	return err
}

// recordCells are the cells of a table that describe a record.
type recordCells struct {
	record *api.Record
	call   *api.Call
}

// recordColumns are the columns of a table of records. It has a row for each call, and one
// for a record without calls.
var recordColumns = []column[recordCells]{
	{"at", func(r *recordCells) string { return r.record.Admitted }},
	{"id", func(r *recordCells) string { return r.record.ID }},
	{"request", func(r *recordCells) string { return r.record.Request }},
	{"key", func(r *recordCells) string { return r.record.Key }},
	{"user", func(r *recordCells) string { return r.record.User }},
	{"limit", func(r *recordCells) string { return r.record.Limit }},
	{"model", func(r *recordCells) string { return r.record.Model }},
	{"operation", func(r *recordCells) string { return r.record.Operation }},
	{"format", func(r *recordCells) string { return r.record.Format }},
	{"stream", func(r *recordCells) string { return strconv.FormatBool(r.record.Stream) }},
	number("status", func(r *recordCells) int64 { return int64(r.record.Status) }),
	{"outcome", func(r *recordCells) string { return r.record.Outcome }},
	number("first_byte_ms", func(r *recordCells) int64 { return r.record.FirstByte }),
	number("duration_ms", func(r *recordCells) int64 { return r.record.Duration }),
	{"provider", func(r *recordCells) string { return r.call.Provider }},
	{"upstream_model", func(r *recordCells) string { return r.call.Model }},
	{"answered_model", func(r *recordCells) string { return r.call.Answered }},
	number("upstream_status", func(r *recordCells) int64 { return int64(r.call.Status) }),
	{"source", func(r *recordCells) string { return r.call.Source }},
	number("input_tokens", func(r *recordCells) int64 { return r.call.Input }),
	number("cache_read_tokens", func(r *recordCells) int64 { return r.call.CacheRead }),
	number("cache_write_tokens", func(r *recordCells) int64 { return r.call.CacheWrite }),
	number("cache_write_1h_tokens", func(r *recordCells) int64 { return r.call.CacheWriteLong }),
	number("output_tokens", func(r *recordCells) int64 { return r.call.Output }),
	number("reasoning_tokens", func(r *recordCells) int64 { return r.call.Reasoning }),
	number("searches", func(r *recordCells) int64 { return r.call.Searches }),
	number("images", func(r *recordCells) int64 { return r.call.Images }),
	number("seconds", func(r *recordCells) int64 { return r.call.Seconds }),
	number("characters", func(r *recordCells) int64 { return r.call.Characters }),
	number("queries", func(r *recordCells) int64 { return r.call.Queries }),
	number("image_input_tokens", func(r *recordCells) int64 { return r.call.ImageInput }),
	number("image_cache_read_tokens", func(r *recordCells) int64 { return r.call.ImageCacheRead }),
	number("image_output_tokens", func(r *recordCells) int64 { return r.call.ImageOutput }),
	number("audio_input_tokens", func(r *recordCells) int64 { return r.call.AudioInput }),
	number("audio_cache_read_tokens", func(r *recordCells) int64 { return r.call.AudioCacheRead }),
	number("audio_output_tokens", func(r *recordCells) int64 { return r.call.AudioOutput }),
	{"price", func(r *recordCells) string { return r.call.Price }},
	{"cost_source", func(r *recordCells) string { return r.call.CostSource }},
	number("cost_nano", func(r *recordCells) int64 { return r.call.CostNano }),
	{"currency", func(r *recordCells) string { return r.call.Currency }},
	number("held_nano", func(r *recordCells) int64 { return r.call.HeldNano }),
	number("saved_nano", func(r *recordCells) int64 { return r.call.SavedNano }),
	{"corrected", func(r *recordCells) string { return strconv.FormatBool(r.call.Corrected) }},
	{"tags", func(r *recordCells) string { return aigateway.FormatTags(r.record.Tags) }},
	{"customer", func(r *recordCells) string { return r.record.Customer }},
	{"choice", func(r *recordCells) string { return r.record.Choice }},
	{"finish", func(r *recordCells) string { return r.call.Finish }},
}

// recordPages returns a function that reads the records of a query, page by page. It returns none
// at the end.
func recordPages(c *call.Call, reader accounting.LedgerReader, q accounting.RecordQuery) func() ([]accounting.Record, error) {
	q.Limit = largestRecords
	last := false
	return func() ([]accounting.Record, error) {
		for !last { // a page may have no records, although others follow
			page, err := reader.Records(c.Context(), q)
			q.Before, last = page.Before, page.Before == 0
			if err != nil || len(page.Records) > 0 {
				return page.Records, err
			}
		}
		return nil, nil
	}
}

// recordTable reads the first page of a table.
func (r Reports) recordTable(c *call.Call, reader accounting.LedgerReader, q accounting.RecordQuery, zone *time.Location) (table, error) {
	next := recordPages(c, reader, q)
	return newTable(r.Failed, headerOf(recordColumns), func() (rows [][]string, err error) {
		records, err := next()
		for i := range records {
			rows = append(rows, recordRows(&records[i], zone)...)
		}
		return rows, err
	})
}

// recordLines reads the first page of JSON lines.
func (r Reports) recordLines(c *call.Call, reader accounting.LedgerReader, q accounting.RecordQuery, zone *time.Location) (jsonLines[api.Record], error) {
	pages := recordPages(c, reader, q)
	next := func() ([]api.Record, error) {
		records, err := pages()
		return answer.Views(records, func(r *accounting.Record) api.Record { return viewRecord(r, zone) }), err
	}
	first, err := next()
	return jsonLines[api.Record]{first, next, r.Failed}, err
}

// recordRows returns the rows of a record.
func recordRows(r *accounting.Record, zone *time.Location) (rows [][]string) {
	view := viewRecord(r, zone)
	for i := range view.Calls {
		rows = append(rows, rowOf(recordColumns, &recordCells{&view, &view.Calls[i]}))
	}
	if rows == nil {
		rows = append(rows, rowOf(recordColumns, &recordCells{&view, &api.Call{Source: accounting.SourceNone.String()}}))
	}
	return rows
}

// ledger returns the reader of the ledger, and its time zone.
func (r Reports) ledger(ctx context.Context) (accounting.LedgerReader, *time.Location, error) {
	reader, ok := r.Store.(accounting.LedgerReader)
	if !ok {
		return nil, nil, answer.Refuse(http.StatusNotFound, "this store keeps no ledger")
	}
	zone, err := reader.Location(ctx)
	return reader, zone, err
}

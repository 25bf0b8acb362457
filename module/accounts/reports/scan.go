package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/call"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// The bounds of a scan. A page of records that are rare is the work of many.
const (
	mostScanned = 20_000 // records
	mostSparse  = 3      // pages with fewer records than they may have
)

// scan calls visit with the records of a query, the newest first. It returns the time since which
// it has read all, which is zero if a bound did not end it.
func scan(c *call.Call, reader accounting.LedgerReader, q accounting.RecordQuery, visit func(*accounting.Record)) (start time.Time, err error) {
	q.Limit = largestRecords
	for scanned, sparse := 0, 0; scanned < mostScanned && sparse < mostSparse; {
		page, err := reader.Records(c.Context(), q)
		for i := range page.Records {
			visit(&page.Records[i])
		}
		if err != nil || page.Before == 0 {
			return time.Time{}, err
		}
		scanned += len(page.Records)
		if len(page.Records) < q.Limit {
			sparse++
		}
		q.Before, start = page.Before, page.Since
	}
	return start, nil
}

// orders are the measures by which records are sorted, the largest first.
var orders = map[string]func(*accounting.Record) int64{
	"duration":   func(r *accounting.Record) int64 { return int64(r.Duration) },
	"first_byte": func(r *accounting.Record) int64 { return int64(r.FirstByte) },
	"cost":       (*accounting.Record).Cost,
}

// sortedRecords is the answer with the largest records of a query.
type sortedRecords struct {
	api.LedgerPage[api.Record]
	Scanned string `json:"scanned_since"`
}

// sorted returns the largest records of those that a scan finds.
func sorted(c *call.Call, reader accounting.LedgerReader, q accounting.RecordQuery, order string, lag *int64, zone *time.Location) (any, error) {
	measure := orders[order]
	if measure == nil || q.Before != 0 {
		return nil, answer.Invalid("sort is time, or %s without after", strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	var found []accounting.Record
	cut := func() {
		slices.SortStableFunc(found, func(a, b accounting.Record) int { return cmp.Compare(measure(&b), measure(&a)) })
		found = found[:min(len(found), q.Limit)]
	}
	start, err := scan(c, reader, q, func(r *accounting.Record) {
		if found = append(found, *r); len(found) >= 2*q.Limit {
			cut()
		}
	})
	cut()
	items := answer.Views(found, func(r *accounting.Record) api.Record { return viewRecord(r, zone) })
	return sortedRecords{api.LedgerPage[api.Record]{Page: api.List(items), Lag: lag}, timeText(start, zone)}, err
}

// setRange sets the end of a query that has none to the present, and its begin to a usual time before
// its end.
func setRange(q *accounting.RecordQuery, usual time.Duration) {
	if q.To.IsZero() {
		q.To = time.Now()
	}
	if q.From.IsZero() {
		q.From = q.To.Add(-usual)
	}
}

// timeText returns a time as a text, which is empty for none.
func timeText(moment time.Time, zone *time.Location) string {
	if moment.IsZero() {
		return ""
	}
	return moment.In(zone).Format(time.RFC3339)
}

package ledgertest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// usageColumns are the columns of gateway_usage after the time.
const usageColumns = `api_key, holder, limit_name, model, provider, upstream, outcome, currency, requests, calls, streams, estimated,
	unpriced, fresh, cache_read, cache_write, cache_write_long, answer, reasoning, searches, cost, held, duration, ttfb, ttfb_n, saved`

// repeated copies the sums by hour and by day of today to a number of earlier days.
func repeated(t *testing.T, d Database, days int) {
	start := time.Now().UTC().Truncate(24 * time.Hour).UnixMilli()
	execute(t, d, literal(`INSERT INTO gateway_usage WITH RECURSIVE days(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM days WHERE n < %d)
		SELECT span, at - n * CAST(%d AS BIGINT), %s FROM gateway_usage, days WHERE span %% 3 <> 0 AND at >= %d`,
		days, 24*time.Hour.Milliseconds(), usageColumns, start))
}

// sumsArePaged compares pages with the same sums read at once.
func sumsArePaged(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	random := rand.New(rand.NewPCG(5, 6))
	for range 15 {
		write(t, l, randomRecord(random))
	}
	all(t, l, 15)
	repeated(t, d, 40)
	for _, dimensions := range []string{"", "hour", "day", "month", "model", "day,model", "hour,model,key", "provider,model,outcome", "month,user"} {
		q := accounting.UsageQuery{From: time.Now().AddDate(0, 0, -50), To: time.Now().Add(time.Hour)}
		for name := range strings.SplitSeq(dimensions, ",") {
			q.By = append(q.By, accounting.Dimension(name))
		}
		q.By = slices.DeleteFunc(q.By, func(name accounting.Dimension) bool { return name == "" })
		whole := read(t, l.Usage, q)
		require.NotEmpty(t, whole)
		for _, limit := range []int{1, 7, 100} {
			const pageCount = 6
			q.Limit = limit
			assert.Equal(t, whole[:min(pageCount*limit, len(whole))], pages(t, l, q, pageCount), "by %s, %d at once", dimensions, limit)
		}
	}
}

// pages returns the sums of at most most pages.
func pages(t *testing.T, l *ledger.Ledger, q accounting.UsageQuery, limit int) (sums []accounting.Usage) {
	for range limit {
		page := read(t, l.Usage, q)
		require.LessOrEqual(t, len(page), q.Limit)
		if sums = append(sums, page...); len(page) < q.Limit {
			break
		}
		q.After = &page[len(page)-1]
	}
	return sums
}

// Clients choose the range of time, and most of it may have no sums. Each window of time
// once was twice as long as the one before, and overflowed after 292 years: the statement
// for a window that ends before it begins was invalid SQL.
func anyTimeIsPaged(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	write(t, l, Example())
	all(t, l, 1)
	for _, dimension := range []accounting.Dimension{accounting.ByHour, accounting.ByDay, accounting.ByMonth} {
		sums := read(t, l.Usage, accounting.UsageQuery{
			From: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
			By: []accounting.Dimension{dimension}, Limit: 10,
		})
		assert.Len(t, sums, 1)
	}
}

// Pages order names by their bytes, whatever the collation of the database is.
func namesAreInTheOrderOfTheirBytes(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	names := []string{"", "B", "Z-1", "_", "a", "b", "z 2", "é"}
	for _, model := range names {
		write(t, l, accounting.Record{Model: model})
	}
	all(t, l, len(names))
	q := accounting.UsageQuery{From: time.Now(), To: time.Now().Add(time.Hour), By: []accounting.Dimension{accounting.ByModel}, Limit: 2}
	var order []string
	for _, sum := range pages(t, l, q, len(names)) {
		order = append(order, sum.Model)
	}
	assert.Equal(t, names, order)
}

// A query without a limit once kept any number of sums in memory.
func sumsAreBounded(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	write(t, l, accounting.Record{})
	all(t, l, 1)
	moment := time.Now().UTC().Truncate(time.Hour)
	execute(t, d, literal(`INSERT INTO gateway_usage
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT 10, %d, n.i + 1000000, %s FROM n, gateway_usage WHERE span = 10`,
		accounting.MostSums, moment.Add(-2*time.Hour).UnixMilli(), strings.TrimPrefix(usageColumns, "api_key, ")),
		literal(`INSERT INTO gateway_names (id, name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT n.i + 1000000, 'key ' || n.i FROM n`, accounting.MostSums))
	q := accounting.UsageQuery{From: moment.Add(-2 * time.Hour), To: moment.Add(-time.Hour), By: []accounting.Dimension{accounting.ByKey}}
	sums := read(t, l.Usage, q)
	assert.Len(t, sums, accounting.MostSums)
	q.To = moment.Add(time.Hour)
	_, err := l.Usage(t.Context(), q)
	assert.ErrorIs(t, err, accounting.ErrManySums)
	assert.ErrorContains(t, err, fmt.Sprint(accounting.MostSums))
}

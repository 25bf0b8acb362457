package ledgertest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// RecordsVariable is the environment variable with the number of records of Volume.
const RecordsVariable = "GATEWAY_TEST_LEDGER_RECORDS"

// longestPage is how long a page of usage may take.
const longestPage = 200 * time.Millisecond

// The names of Volume, by their first ids.
const (
	keysFrom, keys           = 100, 50
	usersFrom, users         = 200, 20
	modelsFrom, models       = 300, 12
	providersFrom, providers = 400, 4
	outcomeAnswered          = 500
	currencyUSD              = 501
	volumeDays               = 365
)

// Volume measures pages of usage of a ledger with as many records as RecordsVariable
// sets, by default standard, over a year. A page that takes longer than longestPage
// on average is an error.
func Volume(b *testing.B, d Database, standard int) {
	records := standard
	if text := os.Getenv(RecordsVariable); text != "" {
		var err error
		records, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	l, err := ledger.Open(aigateway.LedgerOptions{Journal: journalOf(b), Records: 10 * volumeDays}, d(), zap.NewNop)
	require.NoError(b, err)
	defer func() { require.NoError(b, l.Close()) }()
	_, err = l.Location(b.Context()) // makes the tables
	require.NoError(b, err)
	to := time.Now().UTC().Truncate(24 * time.Hour)
	from := to.AddDate(0, 0, -volumeDays)
	fillVolume(b, d, records, from)
	b.Logf("%d records of a year", records)
	for name, page := range volumePages(l, from, to) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				page(b)
			}
			if mean := b.Elapsed() / time.Duration(b.N); mean > longestPage {
				b.Errorf("a page takes %s, more than %s", mean, longestPage)
			}
		})
	}
}

// volumePages are the pages that people look at.
func volumePages(l *ledger.Ledger, from, to time.Time) map[string]func(*testing.B) {
	pages := make(map[string]func(*testing.B))
	usage := func(name string, q aigateway.UsageQuery) {
		pages[name] = func(b *testing.B) {
			sums, err := l.Usage(b.Context(), q)
			require.NoError(b, err)
			require.NotEmpty(b, sums)
		}
	}
	day := to.AddDate(0, 0, -1)
	for _, by := range []aigateway.Dimension{
		aigateway.ByDay, aigateway.ByMonth, aigateway.ByKey, aigateway.ByUser, aigateway.ByModel, aigateway.ByProvider, aigateway.ByOutcome,
	} {
		usage("year_by_"+string(by), aigateway.UsageQuery{From: from, To: to, By: []aigateway.Dimension{by}})
	}
	usage("day_by_hour", aigateway.UsageQuery{From: day, To: to, By: []aigateway.Dimension{aigateway.ByHour}})
	usage("month_by_day_and_model", aigateway.UsageQuery{From: to.AddDate(0, 0, -30), To: to, By: []aigateway.Dimension{aigateway.ByDay, aigateway.ByModel}})
	usage("year_of_a_user_by_month", aigateway.UsageQuery{From: from, To: to, User: name(usersFrom + 1), By: []aigateway.Dimension{aigateway.ByMonth}})
	usage("month_of_a_key_by_day", aigateway.UsageQuery{From: to.AddDate(0, 0, -30), To: to, Key: name(keysFrom + 1), By: []aigateway.Dimension{aigateway.ByDay}})
	for name, q := range map[string]aigateway.RecordQuery{
		"records":           {Limit: 100},
		"records_of_a_key":  {Limit: 100, Key: name(keysFrom + 1)},
		"records_of_a_user": {Limit: 100, User: name(usersFrom + 1)},
	} {
		pages[name] = func(b *testing.B) {
			found, err := l.Records(b.Context(), q)
			require.NoError(b, err)
			require.Len(b, found, 100)
		}
	}
	return pages
}

// fillVolume writes records into the tables, and their sums, as a ledger of the zone UTC
// does.
func fillVolume(b *testing.B, d Database, records int, from time.Time) {
	for _, statement := range []string{
		`UPDATE gateway_ledger_state SET zone = 'UTC'`,
		literal(`INSERT INTO gateway_names (id, name) WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'name ' || i FROM n`,
			keysFrom, outcomeAnswered),
		literal(`INSERT INTO gateway_names (id, name) VALUES (%d, 'USD')`, currencyUSD),
		volumeRecords(records, from),
		`INSERT INTO gateway_ledger_calls (id, call, provider, upstream, answered, format, status, source, fresh, cache_read, cache_write,
			cache_write_long, answer, reasoning, searches, price, currency, cost, held)
			SELECT id, 0, ` + literal(`%d + id %% %d`, providersFrom, providers) + `, model, model, operation, 200, 1, 1000, 500, 0, 0, 200, 50, 0,
			outcome, ` + literal(`%d`, currencyUSD) + `, 12345, 0 FROM gateway_ledger`,
		volumeSums(1, `(l.id / 4194304 + 1577836800000) / 3600000 * 3600000`),
		volumeSums(2, `(l.id / 4194304 + 1577836800000) / 86400000 * 86400000`),
	} {
		execute(b, d, statement)
	}
	for month := time.Date(from.Year(), from.Month(), 1, 0, 0, 0, 0, time.UTC); month.Before(from.AddDate(1, 1, 0)); month = month.AddDate(0, 1, 0) {
		execute(b, d, literal(`INSERT INTO gateway_usage SELECT 3, %d, api_key, holder, limit_name, model, provider, upstream, outcome, currency, `, month.UnixMilli())+
			columnSums+literal(` FROM gateway_usage WHERE span = 2 AND at >= %d AND at < %d
			GROUP BY api_key, holder, limit_name, model, provider, upstream, outcome, currency`, month.UnixMilli(), month.AddDate(0, 1, 0).UnixMilli()))
	}
	execute(b, d, `INSERT INTO gateway_usage SELECT span + 3, at, 0, 0, 0, 0, 0, 0, 0, currency, `+columnSums+` FROM gateway_usage GROUP BY span, at, currency`, `ANALYZE`)
}

// volumeRecords writes records at equal distances.
func volumeRecords(records int, from time.Time) string {
	apart := int64(volumeDays*24*time.Hour/time.Millisecond) / int64(records)
	first := from.UnixMilli() - 1577836800000 // 2020
	return literal(`INSERT INTO gateway_ledger (id, request, api_key, holder, limit_name, model, operation, format, outcome, stream, status, ttfb, duration)
		WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT (%d + i * %d) * 4194304 + i %% 64, 'req_' || i, %d + i %% %d, %d + i %% %d, 0, %d + i %% %d, 0, 0, %d, 1, 200, 250000000, 2000000000 FROM n`,
		records-1, first, apart, keysFrom, keys, usersFrom, users, modelsFrom, models, outcomeAnswered)
}

// volumeSums writes the sums of a span that begins at an expression.
func volumeSums(span int, at string) string {
	return literal(`INSERT INTO gateway_usage SELECT %d, %s, l.api_key, l.holder, l.limit_name, l.model, c.provider, c.upstream, l.outcome, c.currency,
		count(*), count(*), sum(l.stream), 0, 0, sum(c.fresh), sum(c.cache_read), sum(c.cache_write), sum(c.cache_write_long),
		sum(c.answer), sum(c.reasoning), sum(c.searches), sum(c.cost), sum(c.held), sum(l.duration), sum(l.ttfb), count(*)
		FROM gateway_ledger l JOIN gateway_ledger_calls c ON c.id = l.id
		GROUP BY 2, l.api_key, l.holder, l.limit_name, l.model, c.provider, c.upstream, l.outcome, c.currency`, span, at)
}

const columnSums = `sum(requests), sum(calls), sum(streams), sum(estimated), sum(unpriced), sum(fresh), sum(cache_read), sum(cache_write),
	sum(cache_write_long), sum(answer), sum(reasoning), sum(searches), sum(cost), sum(held), sum(duration), sum(ttfb), sum(ttfb_n)`

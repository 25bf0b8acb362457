package ledgertest

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
)

// RecordsVariable is the environment variable with the number of records of Volume.
const RecordsVariable = "GATEWAY_TEST_LEDGER_RECORDS"

// longestPage is the time that a page of usage may take.
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
	l, err := ledger.Open(accounting.LedgerOptions{Journal: journalOf(b), Records: 10 * volumeDays}, d(), zap.NewNop)
	require.NoError(b, err)
	defer func() { require.NoError(b, l.Close()) }()
	_, err = l.Location(b.Context()) // makes the tables
	require.NoError(b, err)
	end := time.Now().UTC().Truncate(24 * time.Hour)
	start := end.AddDate(0, 0, -volumeDays)
	fillVolume(b, d, l, records, start)
	b.Logf("%d records of a year", records)
	for name, page := range pagesOfUsage(l, start, end) {
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

// pagesOfUsage returns queries for pages that people look at, by name.
func pagesOfUsage(l accounting.LedgerReader, start, end time.Time) map[string]func(*testing.B) {
	pages := make(map[string]func(*testing.B))
	for name, q := range volumeQueries(start, end) {
		q.Limit = 1000 // as the API
		pages[name] = func(b *testing.B) {
			sums, err := l.Usage(b.Context(), q)
			require.NoError(b, err)
			require.NotEmpty(b, sums)
		}
	}
	for name, q := range map[string]accounting.RecordQuery{
		"records":           {Limit: 100},
		"records_of_a_key":  {Limit: 100, Key: name(keysFrom + 1)},
		"records_of_a_user": {Limit: 100, User: name(usersFrom + 1)},
	} {
		pages[name] = func(b *testing.B) {
			page, err := l.Records(b.Context(), q)
			require.NoError(b, err)
			require.Len(b, page.Records, 100)
		}
	}
	return pages
}

// volumeQueries returns the queries for pages of sums, by name.
func volumeQueries(start, end time.Time) map[string]accounting.UsageQuery {
	type dimensions = []accounting.Dimension
	type only = map[accounting.Dimension]string
	day, month := end.AddDate(0, 0, -1), end.AddDate(0, 0, -30)
	key, user := name(keysFrom+1), name(usersFrom+1)
	largest := &accounting.Largest{Number: 6, Measure: accounting.MeasureCost}
	daily := dimensions{accounting.ByDay, accounting.ByModel}
	queries := map[string]accounting.UsageQuery{
		"day_by_hour":                  {From: day, To: end, By: dimensions{accounting.ByHour}},
		"month_by_day_and_model":       {From: month, To: end, By: daily},
		"month_by_hour_and_user":       {From: month, To: end, By: dimensions{accounting.ByHour, accounting.ByUser}, Largest: largest},
		"month_by_hour_and_model":      {From: month, To: end, By: dimensions{accounting.ByHour, accounting.ByModel}},
		"month_by_key_and_model":       {From: month, To: end, By: dimensions{accounting.ByKey, accounting.ByModel}},
		"month_of_a_key_by_day":        {From: month, To: end, Only: only{accounting.ByKey: key}, By: dimensions{accounting.ByDay}},
		"month_of_a_key_by_hour":       {From: month, To: end, Only: only{accounting.ByKey: key}, By: dimensions{accounting.ByHour}},
		"year_by_day_and_model":        {From: start, To: end, By: daily},
		"year_by_day_and_model_page_2": {From: start, To: end, By: daily, After: &accounting.Usage{At: start.AddDate(0, 0, 100)}},
		"year_by_key_user_and_model":   {From: start, To: end, By: dimensions{accounting.ByKey, accounting.ByUser, accounting.ByModel}},
		"year_of_a_user_by_month":      {From: start, To: end, Only: only{accounting.ByUser: user}, By: dimensions{accounting.ByMonth}},
		"all_of_a_key":                 {From: start.AddDate(-5, 0, 0), To: end, Only: only{accounting.ByKey: key}},
	}
	for _, dimension := range (dimensions{
		accounting.ByDay, accounting.ByMonth, accounting.ByKey, accounting.ByUser, accounting.ByModel, accounting.ByProvider, accounting.ByOutcome,
	}) {
		queries["year_by_"+string(dimension)] = accounting.UsageQuery{From: start, To: end, By: dimensions{dimension}}
	}
	return queries
}

// fillVolume writes records and their sums into the tables, like a ledger in the zone UTC.
func fillVolume(b *testing.B, d Database, l *ledger.Ledger, records int, start time.Time) {
	execute(b, d,
		`UPDATE gateway_ledger_state SET zone = 'UTC'`,
		literal(`INSERT INTO gateway_names (id, name) WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'name ' || i FROM n`,
			keysFrom, outcomeAnswered),
		literal(`INSERT INTO gateway_names (id, name) VALUES (%d, 'USD')`, currencyUSD),
		volumeSums(1, 3600000, records, start),
		volumeSums(2, 86400000, records, start),
	)
	for month := time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC); month.Before(start.AddDate(1, 1, 0)); month = month.AddDate(0, 1, 0) {
		execute(b, d, literal(`INSERT INTO gateway_usage SELECT 3, %d, api_key, holder, limit_name, model, provider, upstream, outcome, currency, `, month.UnixMilli())+
			columnSums+literal(` FROM gateway_usage WHERE span = 2 AND at >= %d AND at < %d
			GROUP BY api_key, holder, limit_name, model, provider, upstream, outcome, currency`, month.UnixMilli(), month.AddDate(0, 1, 0).UnixMilli()))
	}
	const filter = ` FROM gateway_usage WHERE span <= 3 GROUP BY span, at, currency`
	execute(b, d,
		`INSERT INTO gateway_usage SELECT span + 3, at, 0, 0, 0, 0, 0, 0, 0, currency, `+columnSums+filter,
		`INSERT INTO gateway_usage SELECT span + 6, at, 0, 0, limit_name, model, provider, upstream, outcome, currency, `+columnSums+filter+`, limit_name, model, provider, upstream, outcome`,
		`INSERT INTO gateway_usage SELECT span + 9, at, api_key, holder, limit_name, 0, 0, 0, outcome, currency, `+columnSums+filter+`, api_key, holder, limit_name, outcome`,
	)
	writeOriginals(b, l)
	execute(b, d, volumePages(records, start)...)
	if d().Dialect().Bind == nil {
		execute(b, d, `ANALYZE`) // as PostgreSQL does by itself
	}
}

// originals is the number of records that the ledger writes. Copies of them fill the year.
const originals = 300

// writeOriginals writes records, each in a page of its own: with five million records in a
// year, a batch often contains only one.
func writeOriginals(b *testing.B, l *ledger.Ledger) {
	for i := range originals {
		r := Example()
		r.Key, r.User, r.Model = name(keysFrom+i%keys), name(usersFrom+i%users), name(modelsFrom+i%models)
		require.NoError(b, l.Begin(&r))
		l.End(&r)
		require.NoError(b, l.Settled(b.Context()))
	}
}

// interval returns the time between two records, in milliseconds.
func interval(records int) int64 {
	return int64(volumeDays*24*time.Hour/time.Millisecond) / int64(records)
}

// volumePages returns statements that copy the original pages at equal intervals.
func volumePages(records int, start time.Time) []string {
	clause := literal(`WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < %d),
		page(id, records, number) AS (SELECT last, records, row_number() OVER (ORDER BY last) FROM gateway_ledger_pages),
		copy(id, original, records) AS (SELECT (%d + (i * %d + number - 1) * %d) * 4194304, id, records FROM n, page)`,
		records/originals-1, start.UnixMilli()-1577836800000, originals, interval(records))
	return []string{
		`INSERT INTO gateway_ledger_owners (last, kind, name) ` + clause + `
			SELECT c.id, o.kind, o.name FROM copy c JOIN gateway_ledger_owners o ON o.last = c.original`,
		`INSERT INTO gateway_ledger_pages (last, first, records) ` + clause + ` SELECT id, id, records FROM copy`,
	}
}

// volumeSums returns a statement that writes the sums of spans of a length in milliseconds,
// ordered by time: a ledger writes the sums of an hour during or after that hour, so that
// they are close to each other on the disk.
func volumeSums(span, length, records int, start time.Time) string {
	return literal(`INSERT INTO gateway_usage SELECT %d, (%d + i * %d) / %d * %d, %d + i %% %d, %d + i %% %d, 0, %d + i %% %d, %d + i %% %d, %d + i %% %d, %d, %d,
		count(*), count(*), count(*), 0, 0, count(*) * 1000, count(*) * 500, 0, 0, count(*) * 200, count(*) * 50, 0, count(*) * 12345, 0,
		count(*) * 2000000000, count(*) * 250000000, count(*), 0
		FROM (WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i FROM n) records
		GROUP BY 2, 3, 4, 6, 7, 8 ORDER BY 2`,
		span, start.UnixMilli(), interval(records), length, length, keysFrom, keys, usersFrom, users, modelsFrom, models, providersFrom, providers, modelsFrom, models,
		outcomeAnswered, currencyUSD, records-1)
}

const columnSums = `sum(requests), sum(calls), sum(streams), sum(estimated), sum(unpriced), sum(fresh), sum(cache_read), sum(cache_write),
	sum(cache_write_long), sum(answer), sum(reasoning), sum(searches), sum(cost), sum(held), sum(duration), sum(ttfb), sum(ttfb_n), sum(saved)`

package ledgertest

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

func recordsAreKept(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	start := time.Now().Truncate(time.Millisecond)
	write(t, l, Example())
	got := all(t, l, 1)[0]
	assert.WithinRange(t, got.Admitted, start, time.Now())
	assert.Positive(t, got.ID)
	want := Example()
	want.ID, want.Admitted = got.ID, got.Admitted
	assert.Equal(t, want, got)
}

func callsCount(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	write(t, l, Example())
	all(t, l, 1)
	sums := usage(t, l, accounting.ByProvider)
	require.Len(t, sums, 2)
	assert.Equal(t, "anthropic", sums[0].Provider)
	assert.EqualValues(t, 1, sums[0].Requests)
	assert.EqualValues(t, 1, sums[0].Calls)
	assert.Equal(t, token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, CacheWriteLong: 4, Answer: 5, Reasoning: 6, Searches: 7}, sums[0].Tokens)
	assert.Equal(t, "openai", sums[1].Provider)
	assert.EqualValues(t, 0, sums[1].Requests)
	assert.EqualValues(t, 1, sums[1].Calls)
	assert.EqualValues(t, 500, sums[1].Tokens.Fresh)
}

func unendedAreCrashed(t *testing.T, d Database) {
	journal := journalOf(t)
	l := opened(t, d, journal)
	r := Example()
	r.Outcome, r.Duration, r.Calls = "", 0, []accounting.Call{{
		Provider: "openai", Source: accounting.SourceReserved, Held: aigateway.Cost{Nanos: 500, Currency: "USD"},
	}}
	require.NoError(t, l.Begin(&r))
	require.NoError(t, l.Close())

	l = opened(t, d, journal)
	got := all(t, l, 1)[0]
	assert.Equal(t, accounting.OutcomeCrashed, got.Outcome)
	assert.Equal(t, r.Admitted.UTC(), got.Admitted)
	sum := total(t, l)
	assert.EqualValues(t, 500, sum.Held)
	assert.EqualValues(t, 1, sum.Unpriced)
	require.NoError(t, l.Close())

	l = opened(t, d, journal)
	all(t, l, 1)
}

func appliedAfterAStop(t *testing.T, d Database) {
	const starts, each = 5, 50
	journal := journalOf(t)
	for range starts {
		l := opened(t, d, journal)
		for range each {
			write(t, l, Example())
		}
		require.NoError(t, l.Close())
	}
	l := opened(t, d, journal)
	all(t, l, starts*each)
	assert.EqualValues(t, starts*each, total(t, l).Requests)
}

// The mark is written together with the records. If it is set back nevertheless, records
// that exist are not added to the sums again.
func repeatedBatches(t *testing.T, d Database) {
	journal := journalOf(t)
	for range 3 {
		l := opened(t, d, journal)
		write(t, l, Example())
		require.NoError(t, l.Close())
		execute(t, d, `UPDATE gateway_ledger_nodes SET segment = 0, position = 0`)
	}
	l := opened(t, d, journal)
	all(t, l, 3)
	assert.EqualValues(t, 3, total(t, l).Requests)
	assert.EqualValues(t, 3*1234, total(t, l).Cost.Nanos)
}

func twoGateways(t *testing.T, d Database) {
	const gateways, each = 2, 300
	var wg sync.WaitGroup
	var last *ledger.Ledger
	for i := range gateways {
		l := opened(t, d, journalOf(t))
		last = l
		wg.Go(func() {
			for n := range each {
				r := Example()
				r.Key, r.Model = name(n%7), name((n+i)%5)
				write(t, l, r)
			}
		})
	}
	wg.Wait()
	require.Eventually(t, func() bool {
		sums := usage(t, last)
		return len(sums) == 1 && sums[0].Requests == gateways*each
	}, patience, tick)
	assert.EqualValues(t, gateways*each*1234, total(t, last).Cost.Nanos)
}

func oldRecordsGo(t *testing.T, d Database) {
	journal := journalOf(t)
	l := opened(t, d, journal)
	for n := 1; n <= 2; n++ { // each in a page of its own
		write(t, l, Example())
		all(t, l, n)
	}
	newest := all(t, l, 2)[0]
	const hundredDays = 100 * 24 * 3600 * 1000 << 22
	execute(t, d,
		literal(`UPDATE gateway_ledger_pages SET first = first - %[1]d, last = last - %[1]d WHERE last <> %[2]d`, hundredDays, newest.ID),
		literal(`UPDATE gateway_ledger_owners SET last = last - %d WHERE last <> %d`, hundredDays, newest.ID))
	all(t, l, 2)
	old := total(t, l)
	l.Prune(t.Context())
	assert.Equal(t, newest.ID, all(t, l, 1)[0].ID)
	page := read(t, l.Records, accounting.RecordQuery{Limit: 10, Key: newest.Key})
	assert.Len(t, page.Records, 1)
	assert.Equal(t, old, total(t, l))
}

func recordsArePaged(t *testing.T, d Database) {
	const n = 250
	l := opened(t, d, journalOf(t))
	for i := range n {
		r := Example()
		r.Key, r.User = name(i%2), name(i%3)
		write(t, l, r)
	}
	all(t, l, n)
	var seen []int64
	for query := (accounting.RecordQuery{Limit: 40, Key: name(1)}); ; {
		page := read(t, l.Records, query)
		for _, r := range page.Records {
			assert.Equal(t, name(1), r.Key)
			assert.Len(t, r.Calls, 2)
			assert.True(t, len(seen) == 0 || r.ID < seen[len(seen)-1])
			seen = append(seen, r.ID)
		}
		if query.Before = page.Before; query.Before == 0 {
			break
		}
	}
	assert.Len(t, seen, n/2)
	ofKey := read(t, l.Records, accounting.RecordQuery{Limit: n, User: name(0), Key: name(0)})
	assert.Len(t, ofKey.Records, 42)
	ofKey = read(t, l.Records, accounting.RecordQuery{Limit: n, User: "nobody"})
	assert.Empty(t, ofKey.Records)
}

// Exchanges end in another order than they begin, so the ids of two pages may overlap.
func overlappingRecordsArePaged(t *testing.T, d Database) {
	const n = 300
	l := opened(t, d, journalOf(t))
	var running []accounting.Record
	var admitted, ofKey []int64
	for i := range n {
		r := Example()
		r.Key = name(i % 2)
		require.NoError(t, l.Begin(&r))
		running = append(running, r)
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(n, func(i, j int) { running[i], running[j] = running[j], running[i] })
	for i := range running {
		l.End(&running[i])
		if i%7 == 0 {
			require.NoError(t, l.Settled(t.Context()))
		}
	}
	for _, r := range all(t, l, n) {
		admitted = append(admitted, r.ID)
		if r.Key == name(1) {
			ofKey = append(ofKey, r.ID)
		}
	}
	assert.IsDecreasing(t, admitted)
	assert.Len(t, ofKey, n/2)
	assert.Equal(t, admitted, paged(t, l, accounting.RecordQuery{Limit: 11}))
	assert.Equal(t, ofKey, paged(t, l, accounting.RecordQuery{Limit: 11, Key: name(1)}))
}

// paged reads all pages of a query, and returns the ids of their records.
func paged(t *testing.T, l accounting.LedgerReader, q accounting.RecordQuery) (ids []int64) {
	for {
		page := read(t, l.Records, q)
		for _, r := range page.Records {
			ids = append(ids, r.ID)
		}
		if q.Before = page.Before; q.Before == 0 {
			return ids
		}
	}
}

func recordsAreFound(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	wanted := Example()
	wanted.Request, wanted.Key, wanted.User, wanted.Model, wanted.Outcome = "req_7", "phone", "bob", "small", "failed"
	wanted.Limit, wanted.Operation, wanted.Format, wanted.Status, wanted.Stream = "tiny", "count_tokens", "responses", 429, !wanted.Stream
	wanted.Calls = append(wanted.Calls, accounting.Call{Provider: "rare", Model: "rare-1", Source: accounting.SourceProvider})
	wanted.Duration = 10 * time.Second
	wanted.Tags, wanted.Customer = []aigateway.Tag{{Name: "env", Value: "test"}, {Name: "team", Value: "search"}}, "umbrella"
	write(t, l, Example())
	write(t, l, wanted)
	write(t, l, Example())
	records := all(t, l, 3)
	for name, q := range map[string]accounting.RecordQuery{
		"request": {Request: "req_7"}, "key": {Key: "phone"}, "user": {User: "bob"}, "model": {Model: "small"}, "outcome": {Outcome: "failed"},
		"all":   {Request: "req_7", Key: "phone", User: "bob", Model: "small", Outcome: "failed"},
		"limit": {RecordFilter: accounting.RecordFilter{KeyLimit: "tiny"}}, "operation": {RecordFilter: accounting.RecordFilter{Operation: "count_tokens"}},
		"format": {RecordFilter: accounting.RecordFilter{Format: "responses"}}, "status": {RecordFilter: accounting.RecordFilter{Status: 429}},
		"stream":   {RecordFilter: accounting.RecordFilter{Stream: new(wanted.Stream)}},
		"provider": {RecordFilter: accounting.RecordFilter{Provider: "rare"}}, "upstream": {RecordFilter: accounting.RecordFilter{Upstream: "rare-1"}},
		"tag": {RecordFilter: accounting.RecordFilter{Tag: aigateway.Tag{Name: "env", Value: "test"}}}, "customer": {RecordFilter: accounting.RecordFilter{Customer: "umbrella"}},
		"duration": {RecordFilter: accounting.RecordFilter{MinDuration: 10 * time.Second}},
		"call":     {RecordFilter: accounting.RecordFilter{Provider: "rare", Upstream: "rare-1"}},
	} {
		q.Limit = 10
		assert.Equal(t, []int64{records[1].ID}, paged(t, l, q), name)
	}
	for name, q := range map[string]accounting.RecordQuery{
		"a part of the request": {Request: "req"}, "two requests": {Request: "req_7", Model: "large"}, "another key": {Request: "req_7", Key: "other"},
		"texts of two calls": {RecordFilter: accounting.RecordFilter{Provider: Example().Calls[0].Provider, Upstream: "rare-1"}},
		"before":             {To: wanted.Admitted.Add(-time.Hour)}, "after": {From: time.Now().Add(time.Hour)},
	} {
		q.Limit = 10
		assert.Empty(t, paged(t, l, q), name)
	}
	dear := accounting.RecordQuery{Limit: 10, RecordFilter: accounting.RecordFilter{MinCost: 1234 + 5000}}
	assert.Empty(t, paged(t, l, dear))
	reprice(t, l, fixed("rare", "new", aigateway.Cost{Nanos: 5000, Currency: "USD"}), false)
	assert.Equal(t, []int64{records[1].ID}, paged(t, l, dear), "the cost is that of the correction")
	first, last := records[2].Admitted, records[0].Admitted
	assert.Len(t, paged(t, l, accounting.RecordQuery{Limit: 1, From: first, To: last.Add(time.Millisecond)}), 3)
	assert.NotContains(t, paged(t, l, accounting.RecordQuery{Limit: 1, From: first, To: last}), records[0].ID)
}

// No index has the requests of records. A search for one would otherwise read the whole
// table at once.
func searchesAreBounded(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	wanted := Example()
	wanted.Request = "req_oldest"
	write(t, l, wanted)
	oldest := all(t, l, 1)[0].ID
	// As many copies of a page as two searches read, each in a period of its own.
	const day = 24 * 3600 * 1000 << 22
	write(t, l, Example())
	all(t, l, 2)
	for copies := 1; copies < 4100; copies *= 2 {
		execute(t, d, literal(`INSERT INTO gateway_ledger_pages (last, first, records)
			SELECT last + %[1]d, first + %[1]d, records FROM gateway_ledger_pages WHERE last > %[2]d`, copies*day/64, oldest))
	}
	query, pages := accounting.RecordQuery{Request: "req_oldest", Limit: 10}, 0
	for {
		page := read(t, l.Records, query)
		pages++
		if query.Before = page.Before; query.Before == 0 {
			require.Len(t, page.Records, 1)
			assert.Equal(t, oldest, page.Records[0].ID)
			break
		}
		assert.Empty(t, page.Records)
	}
	assert.Greater(t, pages, 1)
}

// Names come from clients, who may choose any bytes.
func anyText(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	long := string(make([]rune, 3000))
	for _, text := range []string{"", "x\x00y", "\xff\xfe", "'; DROP TABLE gateway_ledger; --", "{{=1}}", "日本語", long} {
		r := Example()
		r.Request, r.Model, r.Key, r.Calls[0].Model = text, text, text, text
		write(t, l, r)
	}
	got := all(t, l, 7)
	assert.Equal(t, "日本語", got[1].Model)
	assert.Equal(t, "xy", got[5].Key)
}

// Providers choose the counts in their answers. A sum of counts once exceeded the integers
// of the database, so that no later record could be written.
func anyCount(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	absurd := Example()
	absurd.Calls = absurd.Calls[1:]
	absurd.Calls[0].Tokens.Fresh, absurd.Calls[0].Cost.Nanos = math.MaxInt64, math.MaxInt64
	for n := 1; n <= 3; n++ { // each in a transaction of its own
		write(t, l, absurd)
		all(t, l, n)
	}
	write(t, l, Example())
	all(t, l, 4)
	sum := total(t, l)
	assert.EqualValues(t, 4, sum.Requests)
	assert.Greater(t, sum.Tokens.Fresh, int64(1)<<57)
	assert.Greater(t, sum.Cost.Nanos, int64(1)<<57)
}

// Clients may invent names of models, if a provider accepts any. Each name once stayed in
// the database for ever. Records still contain every name, because they are deleted.
func manyModels(t *testing.T, d Database) {
	l := opened(t, d, journalOf(t))
	known := Example()
	write(t, l, known)
	all(t, l, 1)
	execute(t, d, `INSERT INTO gateway_names (name) WITH RECURSIVE numbers(i) AS
		(SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 100000) SELECT 'made up ' || i FROM numbers`)
	unknown := Example()
	unknown.Model, unknown.Calls[1].Answered, unknown.Key = "one more", "another", "new key"
	write(t, l, unknown)
	write(t, l, known)
	assert.Equal(t, unknown.Model, all(t, l, 3)[1].Model)
	assert.Equal(t, []string{"(other)", known.Model}, namesOf(usage(t, l, accounting.ByModel), func(u accounting.Usage) string { return u.Model }))
	assert.Equal(t, []string{known.Key, unknown.Key}, namesOf(usage(t, l, accounting.ByKey), func(u accounting.Usage) string { return u.Key }),
		"clients do not choose the names of keys")
}

func namesOf(sums []accounting.Usage, name func(accounting.Usage) string) (names []string) {
	for _, sum := range sums {
		names = append(names, name(sum))
	}
	return names
}

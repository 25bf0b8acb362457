// Package ledgertest tests the ledger with a database. Every kind of database must pass
// these tests.
package ledgertest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

const (
	// patience is how long a test waits before it fails.
	patience = time.Minute
	tick     = 10 * time.Millisecond
)

// Database returns a new backend for the same database at each call.
type Database func() database.Backend

// Run runs all tests, each with a fresh database.
func Run(t *testing.T, fresh func(testing.TB) Database) {
	for _, test := range []struct {
		claim string
		run   func(*testing.T, Database)
	}{
		{"a record is kept as it was given", recordsAreKept},
		{"L022 every call of an exchange counts, and the exchange once", callsCount},
		{"exchanges that did not end before a stop are crashed", unendedAreCrashed},
		{"L028 records that were written before a stop are applied after it, once", appliedAfterAStop},
		{"L029 a mark that is set back doubles nothing", repeatedBatches},
		{"L034 records of an outage arrive after it", recordsOutliveAnOutage},
		{"an outage ends when records are written", outagesEndOnce},
		{"a batch that the database refuses is split", refusedBatchesAreSplit},
		{"L038 two gateways share a database", twoGateways},
		{"records that have ended before Settled can be read", settled},
		{"Settled does not wait for what ends later", settledUnderLoad},
		{"sums can be those of some limits", sumsOfLimits},
		{"sums can be those of a name of each dimension", sumsOfNames},
		{"sums can be those of a tag or of a customer", sumsOfLabels},
		{"L041 sums equal the records, however they are divided", sumsEqualRecords},
		{"L042 a day in autumn has 25 hours", longDay},
		{"L043 days begin where the zone says", halfHourZone},
		{"the zone of a ledger stays", zoneStays},
		{"L044 old records go and sums stay", oldRecordsGo},
		{"L046 corrections change the costs in sums and records, once", corrected},
		{"a call that gets a price later is no floor any more", pricedLater},
		{"calls of unknown use get no price", crashedStayUnpriced},
		{"parts of costs, and stated costs", partsAndStatedCosts},
		{"a deferred charge is settled once", deferredSettleOnce},
		{"a deferred charge that stays unknown is what was reserved", deferredCloseAsReserved},
		{"a deferred charge is claimed by one gateway", deferredClaimedOnce},
		{"a lost claim ends no round of claims", deferredClaimsPassOverLostRaces},
		{"records are paged by their ids", recordsArePaged},
		{"records that end in another order are paged by their ids", overlappingRecordsArePaged},
		{"records are found by each of their properties", recordsAreFound},
		{"a search for a record is bounded, and goes on", searchesAreBounded},
		{"records can be watched", recordsAreWatched},
		{"a slow watch is dropped", slowWatchesAreDropped},
		{"unknown costs are counted and not zero", unknownCosts},
		{"currencies are added up apart", currencies},
		{"calls of unknown cost are in the sum of their currency, or in one without", currenciesAndUnknownCosts},
		{"any text can be kept", anyText},
		{"any count can be kept", anyCount},
		{"names of models are bounded", manyModels},
		{"sums are paged by their dimensions", sumsArePaged},
		{"sums of any time are paged", anyTimeIsPaged},
		{"the largest sums are found, and the others added up", largestSums},
		{"the largest pairs are found", largestPairs},
		{"sums of an earlier version are added up after the migration, and are exact meanwhile", levelsAreFilled},
		{"names are in the order of their bytes", namesAreInTheOrderOfTheirBytes},
		{busy, sumsAreBounded},
		{alone, watchesAreBounded},
		{"a wrong query is refused", wrongQueries},
	} {
		t.Run(test.claim, func(t *testing.T) {
			if test.claim != busy && test.claim != alone {
				t.Parallel() // most of them wait
			}
			test.run(t, fresh(t))
		})
	}
}

// busy is the claim of a test that keeps the processors busy for seconds: beside it, others
// would wait longer than a database may take.
const busy = "sums without a limit are bounded"

// alone is the claim of a test that leaves nothing for others.
const alone = "watches are bounded"

// opened opens a ledger that is closed at the end of the test.
func opened(t testing.TB, d Database, journal string, change ...func(*accounting.LedgerOptions)) *ledger.Ledger {
	t.Helper()
	options := accounting.LedgerOptions{Journal: journal}
	for _, change := range change {
		change(&options)
	}
	l, err := ledger.Open(options, d(), zap.NewNop)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l
}

func journalOf(t testing.TB) string { return filepath.Join(t.TempDir(), "journal") }

// write begins and ends an exchange.
func write(t testing.TB, l *ledger.Ledger, r accounting.Record) {
	t.Helper()
	assert.NoError(t, l.Begin(&r))
	l.End(&r)
}

// all waits until there are n records, and returns them, the newest first.
func all(t testing.TB, l accounting.LedgerReader, n int) (records []accounting.Record) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		page, err := l.Records(context.Background(), accounting.RecordQuery{Limit: n + 10})
		assert.NoError(c, err)
		records = page.Records
		assert.Len(c, records, n)
	}, patience, tick)
	return records
}

// usage returns the sums of all time.
func usage(t testing.TB, l accounting.LedgerReader, dimensions ...accounting.Dimension) []accounting.Usage {
	t.Helper()
	return read(t, l.Usage, accounting.UsageQuery{From: time.Now().AddDate(-2, 0, 0), To: time.Now().Add(time.Hour), By: dimensions})
}

// read returns what a query finds. A database that is busy with other work may need longer than
// the ledger waits for one read, so a read that fails is repeated.
func read[Q, R any](t testing.TB, query func(context.Context, Q) (R, error), q Q) (result R) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		var err error
		result, err = query(context.Background(), q)
		assert.NoError(c, err)
	}, patience, tick)
	return result
}

// total returns the only sum of all time.
func total(t testing.TB, l accounting.LedgerReader) accounting.Usage {
	t.Helper()
	sums := usage(t, l)
	require.Len(t, sums, 1)
	return sums[0]
}

// execute runs statements in the database, without the ledger.
func execute(t testing.TB, d Database, statements ...string) {
	t.Helper()
	backend := d()
	db, err := backend.Connect(t.Context())
	require.NoError(t, err)
	defer func() { assert.NoError(t, backend.Disconnect(db)) }()
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}

// Example returns a record with a value in every field.
func Example() accounting.Record {
	return accounting.Record{
		Request: "req_1", Key: "laptop", User: "alice", Limit: "small", Model: "assistant",
		Operation: "generate", Format: "messages", Stream: true, Status: 200, Outcome: "answered",
		FirstByte: 250 * time.Millisecond, Duration: 2 * time.Second,
		Calls: []accounting.Call{
			{
				Provider: "openai", Model: "gpt-5", Format: "chat", Status: 503,
				Source: accounting.SourceEstimated, Tokens: token.Counts{Fresh: 500},
				Held: aigateway.Cost{Nanos: 77, Currency: "USD"},
			},
			{
				Provider: "anthropic", Model: "claude-opus-5", Answered: "claude-opus-5-20260801", Format: "messages", Status: 200,
				Source: accounting.SourceProvider, Tokens: token.Counts{Fresh: 1, CacheRead: 2, CacheWrite: 3, CacheWriteLong: 4, Answer: 5, Reasoning: 6, Searches: 7}, Terms: token.Priority | token.RegionUS,
				Units: token.Units{Images: 1, Seconds: 2, Characters: 3, Queries: 4, Counted: true, ImageTokens: token.MediaTokens{Input: 5, CacheRead: 6, Output: 7}, AudioTokens: token.MediaTokens{Input: 8, CacheRead: 9, Output: 10}},
				Price: "anthropic claude-opus-5", Saved: 99, Cost: aigateway.Cost{Nanos: 1234, Currency: "USD"},
				Held: aigateway.Cost{Currency: "USD"},
			},
		},
		Attempts: []accounting.Attempt{
			{Provider: "local", Model: "gpt-5", End: "rests"},
			{Provider: "openai", Model: "gpt-5", Format: "chat", End: "overloaded", Status: 503, Duration: 300 * time.Millisecond},
			{Provider: "anthropic", Model: "claude-opus-5", Format: "messages", End: "answered", Status: 200, Duration: 1700 * time.Millisecond},
		},
		Losses: []string{"top_k"}, AnswerLosses: []string{"citations"}, Unchecked: []string{"secrets"}, Batch: accounting.BatchCounts{Succeeded: 7, Errored: 1, Canceled: 2, Expired: 3}, Reason: "the request was cancelled", Choice: "fallback",
		Labels: aigateway.Labels{Tags: []aigateway.Tag{{Name: "env", Value: "prod"}, {Name: "team", Value: "search"}}, Customer: "acme"},
	}
}

func name(i int) string { return fmt.Sprint("name ", i) }

package ledger

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/database"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/ledger/journal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// A field that is missing in the codec would be lost between the journal and the database.
func TestJournalKeepsEveryMemberOfARecord(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var want accounting.Record
		fill(reflect.ValueOf(&want).Elem(), random)
		want.ID = 0 // is not part of an encoded record
		for i := range want.Calls {
			want.Calls[i].Corrected = false // nor is this
		}
		got, err := parseRecord(appendRecord(nil, &want))
		require.NoError(t, err)
		assert.Equal(t, want, *got)
	}
}

// fill sets all fields except times to random values.
func fill(v reflect.Value, random *rand.Rand) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("x", random.IntN(maxText)))
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(random.Uint64N(256))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(random.Int64() - random.Int64())
	case reflect.Slice:
		if n := random.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, 4))
		}
		for i := range v.Len() {
			fill(v.Index(i), random)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				fill(field, random)
			}
		}
	default:
		panic("fill cannot set " + v.Kind().String())
	}
}

// A record had memory for as many calls as it had bytes: 64 KiB in the journal became
// 17 MB, and a page in the database that somebody else had written any size.
func TestARecordHasNoMoreCallsThanItsBytes(t *testing.T) {
	one := appendRecord(nil, &accounting.Record{Calls: make([]accounting.Call, 1)})
	none := appendRecord(nil, new(accounting.Record))
	assert.Len(t, one, len(none)+leastCall)
	head := none[:len(none)-1] // without the number of calls
	for _, calls := range []int64{-1, 2, 1 << 62} {
		text := append(binary.AppendVarint(bytes.Clone(head), calls), one[len(none):]...)
		r := new(accounting.Record)
		assert.ErrorIs(t, readRecord(r, text, nil), errRecord)
		assert.Zero(t, cap(r.Calls), "memory for %d calls", calls)
	}
}

// A record with more calls than an entry of the journal has room for would be lost.
func TestARecordWithManyCallsFitsIntoTheJournal(t *testing.T) {
	long := strings.Repeat("x", maxText)
	call := accounting.Call{Provider: long, Model: long, Answered: long, Format: "messages", Status: 200, Source: accounting.SourceProvider,
		Tokens: token.Counts{Fresh: 100_000, Answer: 1000}, Price: long, Cost: aigateway.Cost{Nanos: 1 << 40, Currency: "USD"}}
	want := accounting.Record{Calls: slices.Repeat([]accounting.Call{call}, 1000), Labels: aigateway.Labels{Customer: strings.Repeat("x", 128)}}
	for i := range accounting.MostAttempts {
		want.Attempts = append(want.Attempts, accounting.Attempt{Provider: fmt.Sprint("provider", i), Model: long, Format: "messages", End: "unsuitable", Duration: time.Hour})
		want.Losses = append(want.Losses, fmt.Sprint(strings.Repeat("x", 100), i))
	}
	for i := range aigateway.MostTags {
		want.Tags = append(want.Tags, aigateway.Tag{Name: fmt.Sprint(strings.Repeat("x", 60), i), Value: strings.Repeat("x", 64)})
	}
	want.AnswerLosses = want.Losses
	text := appendRecord(nil, &want)
	assert.Less(t, len(text), journal.MaxPayload)
	got, err := parseRecord(text)
	require.NoError(t, err)
	assert.Equal(t, want, *got)
}

// A record of an exchange with one attempt and without tags is encoded as it was before there
// were either, and earlier versions of the gateway, which may use the same database, read the
// part of other records that they know.
func TestAdditionsCostOnlyRecordsThatHaveThem(t *testing.T) {
	earlier, err := hex.DecodeString("02" + "057265715f31" + "016b" + "016103616c6c" + "016d" + "0867656e6572617465" + "0463686174" + "08616e737765726564" +
		"9003" + "02" + "02" + "04" + "02" + "0170" + "0175" + "00" + "0463686174" + "00" + "00" + "00" + "9003" + "02" + "14" + "00" + "00" + "00" + "28" + "00" + "00" + "00" + "00" + "00")
	require.NoError(t, err)
	r := accounting.Record{
		Request: "req_1", Key: "k", User: "a", Limit: "all", Model: "m", Operation: "generate", Format: "chat", Outcome: "answered",
		Status: 200, Stream: true, FirstByte: 1, Duration: 2,
		Calls: []accounting.Call{{Provider: "p", Model: "u", Format: "chat", Status: 200, Source: accounting.SourceProvider, Tokens: token.Counts{Fresh: 10, Answer: 20}}},
	}
	assert.Equal(t, hex.EncodeToString(earlier), hex.EncodeToString(appendRecord(nil, &r)))
	got, err := parseRecord(earlier)
	require.NoError(t, err)
	assert.Equal(t, r, *got)

	more := r
	more.Attempts = []accounting.Attempt{{Provider: "o", Model: "u", End: "rests"}, {Provider: "p", Model: "u", Format: "chat", End: "answered"}}
	more.Losses, more.Tags, more.Customer = []string{"top_k"}, []aigateway.Tag{{Name: "team", Value: "search"}}, "acme"
	text := appendRecord(nil, &more)
	assert.Equal(t, string(earlier), string(text[:len(earlier)]))
	reused := new(accounting.Record)
	require.NoError(t, readRecord(reused, text, nil))
	assert.Equal(t, more, *reused)
	require.NoError(t, readRecord(reused, earlier, nil))
	assert.Equal(t, r, *reused, "the additions of the record before")
}

// Each request encodes its record twice.
func TestEncodingARecordAllocatesNothing(t *testing.T) {
	r := accounting.Record{Request: "req_1", Key: "k", Model: "m", Calls: []accounting.Call{{Provider: "p", Model: "u"}}}
	buffer := make([]byte, 0, 1<<10)
	assert.Zero(t, testing.AllocsPerRun(100, func() { appendRecord(buffer, &r) }))
}

func FuzzParseRecord(f *testing.F) {
	f.Add(appendRecord(nil, &accounting.Record{Request: "req_1", Calls: make([]accounting.Call, 2)}))
	f.Add([]byte{recordVersion, 0xff, 0xff})
	f.Add(append([]byte{recordVersion, 0x81, 0x04}, make([]byte, 1<<10)...)) // a longer text than any that is written
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := parseRecord(text); err == nil {
			reparsed, err := parseRecord(appendRecord(nil, r))
			require.NoError(t, err)
			assert.Equal(t, r, reparsed)
		}
	})
}

// Intervals have no gap and no overlap, and contain whole spans. Hours once were those of
// UTC: in a zone where a day begins within an hour of UTC, usage by day lacked the first
// hour of the current day.
func TestIntervalsCoverTheTimeOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, name := range []string{"UTC", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia", "America/Santiago", "Africa/Cairo"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for range 500 {
			start := time.Date(2026, 1, 1, random.IntN(24*400), 0, 0, 0, time.UTC)
			end := start.Add(time.Duration(random.IntN(24*400)) * time.Hour)
			start, end = hour.begin(start, zone), hour.ceil(end, zone)
			next := start
			for _, part := range cover(start, end, month, zone) {
				assert.True(t, part.start.Equal(next), "%s: %v follows %v", name, part, next)
				assert.True(t, part.start.Before(part.end))
				if part.span != month { // the days around the end of a month once were one interval
					assert.Equal(t, month.begin(part.start, zone), month.begin(part.end.Add(-time.Second), zone))
				}
				assert.True(t, part.span.begin(part.start, zone).Equal(part.start))
				assert.True(t, part.span.begin(part.end, zone).Equal(part.end))
				next = part.end
			}
			assert.True(t, next.Equal(end) || start.Equal(end))
		}
	}
}

// In Santiago, clocks are set forward at midnight. The day after began an hour too early,
// and the day before ended before its last hour: sums by day had that hour in both.
func TestDaysFollowEachOtherWhereClocksSkipMidnight(t *testing.T) {
	for _, name := range []string{"America/Santiago", "America/Havana", "Africa/Cairo", "Asia/Beirut", "Atlantic/Azores"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for moment := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); moment.Year() < 2028; moment = moment.Add(30 * time.Minute) {
			begin := day.begin(moment, zone)
			end := day.end(begin, zone)
			require.False(t, begin.After(moment), "%s: %s", name, moment)
			require.True(t, end.After(moment), "%s: %s", name, moment)
			require.True(t, day.begin(end, zone).Equal(end), "%s: %s", name, moment)
			require.Equal(t, moment.In(zone).Day(), begin.Day(), "%s: %s", name, moment)
		}
	}
}

func TestAYearIsReadFromMonths(t *testing.T) {
	parts := cover(time.Date(2025, 11, 22, 13, 0, 0, 0, time.UTC), time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC), month, time.UTC)
	var read []span
	for _, part := range parts {
		read = append(read, part.span)
	}
	assert.Equal(t, []span{hour, day, month, day, hour}, read)
}

// away is the backend of a database that cannot be reached.
type away struct{ database.Backend }

func (away) Identity() string                         { return "away" }
func (away) Dialect() database.Dialect                { return database.Dialect{Migrations: fstest.MapFS{}} }
func (away) Connect(context.Context) (*sql.DB, error) { return nil, errors.New("nobody answers") }
func (away) Explain(err error) error                  { return errors.Join(aigateway.ErrUnavailable, err) }
func (away) Moved() bool                              { return false }
func (away) Close() error                             { return nil }

func TestL035NoExchangeWaitsForTheDatabase(t *testing.T) {
	core, logs := observer.New(zapcore.ErrorLevel)
	l, err := Open(accounting.LedgerOptions{Journal: t.TempDir()}, away{}, func() *zap.Logger { return zap.New(core) })
	require.NoError(t, err)
	for range 1000 {
		r := accounting.Record{Request: "req_1"}
		require.NoError(t, l.Begin(&r))
		l.End(&r)
	}
	_, err = l.Usage(t.Context(), accounting.UsageQuery{})
	assert.ErrorIs(t, err, aigateway.ErrUnavailable)
	require.NoError(t, l.Close())
	assert.LessOrEqual(t, logs.FilterMessage("records cannot be written to the database; they wait in the journal").Len(), 1, "an outage is logged once")
}

// counted is a database that cannot be reached, and counts the attempts.
type counted struct {
	away
	connects atomic.Int64
}

func (c *counted) Connect(ctx context.Context) (*sql.DB, error) {
	c.connects.Add(1)
	return c.away.Connect(ctx)
}

// The pause after a failure was as long as the one for a batch, and was taken for it: each
// caller of Settled, such as a request that restores a budget, ended it.
func TestCallersOfSettledDoNotEndThePauseAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := new(counted)
		l, err := Open(accounting.LedgerOptions{Journal: t.TempDir()}, backend, zap.NewNop)
		require.NoError(t, err)
		const seconds = 10
		for began := time.Now(); time.Since(began) < seconds*time.Second; {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			assert.ErrorIs(t, l.Settled(ctx), context.DeadlineExceeded)
			cancel()
		}
		assert.LessOrEqual(t, backend.connects.Load(), int64(seconds+1))
		require.NoError(t, l.Close())
	})
}

func TestOptionsAreChecked(t *testing.T) {
	for problem, options := range map[string]accounting.LedgerOptions{
		"zone: unknown time zone Mars/Olympus":      {Zone: "Mars/Olympus"},
		"sync must be at most 1m":                   {Sync: caddy.Duration(time.Hour)},
		"records must be a positive number of days": {Records: -1},
	} {
		options.Journal = t.TempDir()
		_, err := Open(options, away{}, zap.NewNop)
		assert.ErrorContains(t, err, problem)
	}
}

// The identity is read from the journal, so it stays if the host changes its name.
func TestTheIdentityOfAJournalStays(t *testing.T) {
	dir := t.TempDir()
	first, err := readIdentity(dir)
	require.NoError(t, err)
	reread, err := readIdentity(dir)
	require.NoError(t, err)
	assert.Equal(t, first, reread)
	assert.GreaterOrEqual(t, len(first), 26)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "identity"), []byte("mine\n"), 0o600))
	named, err := readIdentity(dir)
	require.NoError(t, err)
	assert.Equal(t, "mine", named)
}

func TestIDsInTheDatabaseHaveTheirMoment(t *testing.T) {
	moment := time.Date(2089, 1, 1, 0, 0, 0, int(time.Millisecond), time.UTC)
	id := recordID(maxNodes, journal.At(moment)+255)
	assert.Positive(t, id)
	assert.Equal(t, moment, timeOf(id).UTC())
	assert.LessOrEqual(t, idAt(moment), id)
	assert.Greater(t, idAt(moment.Add(time.Millisecond)), id)
}

func TestStatementsHaveTheirParameters(t *testing.T) {
	assert.Equal(t, "($1, $2), ($3, $4)", placeholders(2, 2))
	assert.Equal(t, "($1)", placeholders(1, 1))
	assert.Equal(t, len(sumColumns), len(sumsOf(new(accounting.Usage))))
	for _, column := range sumColumns {
		assert.Contains(t, usageTable.exists(), "ELSE gateway_usage."+column+" + excluded."+column+" END")
	}
}

// The backlog once left out what an earlier process had left in the journal: the metric was
// 0 while 14,000 records waited.
func TestTheBacklogContainsTheRecordsOfEarlierProcesses(t *testing.T) {
	dir := t.TempDir()
	opened := func(exchanges int) *Ledger {
		l, err := Open(accounting.LedgerOptions{Journal: dir}, away{}, zap.NewNop)
		require.NoError(t, err)
		for range exchanges {
			var r accounting.Record
			require.NoError(t, l.Begin(&r))
			l.End(&r)
		}
		return l
	}
	require.NoError(t, opened(10).Close())
	l := opened(10)
	require.NoError(t, l.Begin(new(accounting.Record))) // it does not end
	require.NoError(t, l.Close())
	// The records that this process ends, that of the crashed exchange among them, once counted
	// twice: they are in the segment behind those of earlier processes.
	l = opened(1)
	require.NoError(t, l.Close()) // the database is away: the mark is unknown, and nothing of earlier processes is counted
	assert.EqualValues(t, 2, l.state().Pending)
	require.NoError(t, l.applier.countEarlier())
	assert.EqualValues(t, 22, l.state().Pending)
	require.NoError(t, l.applier.countEarlier())
	assert.EqualValues(t, 22, l.state().Pending, "they are counted once")
}

func TestBatchesShrinkUntilTheyPassAndGrowAgain(t *testing.T) {
	a := newApplier(nil, "")
	for _, want := range []int{500, 250} {
		a.resize(2*want, 0, aigateway.ErrUnavailable)
		assert.Equal(t, want, a.largest)
	}
	a.resize(250, database.Timeout/2, nil)
	assert.Equal(t, 250, a.largest, "a batch that takes long is not enlarged")
	a.resize(250, time.Millisecond, nil)
	assert.Equal(t, 500, a.largest)
	a.resize(500, 0, errMarkMoved)
	assert.Equal(t, 500, a.largest)
	for range 100 {
		a.resize(1, 0, aigateway.ErrUnavailable)
	}
	assert.Equal(t, 1, a.largest)
	for range 100 {
		a.resize(1, 0, nil)
	}
	assert.Equal(t, largestBatch, a.largest)
}

package accounting

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// ErrLedger is wrapped by the errors of Ledger.Begin, and by some of
// LedgerStore.OpenLedger.
var ErrLedger = errors.New("the ledger cannot be written")

// Ledger records the usage of exchanges. Each exchange has one record.
//
// Begin and End write to a journal, and do no database I/O. A record that they have
// written survives any end of the process. If an exchange has begun but not ended, its
// record gets the outcome OutcomeCrashed at the next start.
type Ledger interface {
	// Begin writes the beginning of an exchange, before any provider is asked. It sets
	// ID and Admitted of the record even if it returns an error. The error wraps
	// ErrLedger. Begin keeps nothing of the record, which changes until End. A record with
	// OutcomeImported keeps the time that Admitted has, which is not before that of the
	// records so far.
	Begin(*Record) error
	// End writes the whole record. If that fails, End logs the error and tries again
	// later.
	End(*Record)

	// Settled returns when all records that have ended before the call can be read. It
	// returns the error of the context if that ends first.
	Settled(context.Context) error

	// LedgerReader reads the records of this and other ledgers from the database.
	LedgerReader

	// Release releases the ledger. The last release closes it when no exchange runs.
	Release() error
}

// LedgerStore is an optional interface of a Store that can keep a ledger.
type LedgerStore interface {
	// OpenLedger returns the ledger of the store. Calls with the same journal return
	// the same ledger, which has the options of the last call. OpenLedger opens the
	// journal, but not the database. For each call, Ledger.Release must be called once.
	// The error wraps ErrLedger if the journal cannot be used now, for example because its
	// disk is full or read-only: a later call may succeed.
	OpenLedger(LedgerOptions) (Ledger, error)

	// LedgerReader reads the records of all gateways with this store. It needs no open
	// ledger.
	LedgerReader
}

// LedgerReader reads records and sums from a database.
type LedgerReader interface {
	// Usage returns sums over records. See UsageQuery. The sums are ordered by time, then
	// by the other dimensions in the order of the query, as bytes, and then by currency.
	Usage(context.Context, UsageQuery) ([]Usage, error)
	// Records returns a page of single records. See RecordQuery.
	Records(context.Context, RecordQuery) (RecordPage, error)
	// Location returns the time zone of days and months.
	Location(context.Context) (*time.Location, error)
}

// LaggingReader is an optional interface of a LedgerReader that knows how far the database is
// behind the journals of this process.
type LaggingReader interface {
	// Behind returns the age of the oldest record that could not be written to the database
	// yet, 0 if none waits. If no ledger of the database is open in this process, known is
	// false. Journals of other processes are not included.
	Behind() (age time.Duration, known bool)
}

// WatchedReader is an optional interface of a LedgerReader whose records can be watched.
type WatchedReader interface {
	// Watch returns a channel that gets the records of this process after they have been
	// written to the database, in batches, which nothing may change. Their calls have no
	// corrections. If the receiver is too slow, Watch drops it and closes the channel. The
	// caller must call stop. At MostWatches, Watch returns ErrManyWatches.
	Watch() (records <-chan []Record, stop func(), err error)
}

// MostWatches is the largest number of watches in a process.
const MostWatches = 64

// ErrManyWatches is returned by Watch if there are MostWatches.
var ErrManyWatches = errors.New("too many watches of records")

// LedgerOptions configure a ledger. The zero value of a field selects its
// default.
type LedgerOptions struct {
	// Journal is the absolute path of the directory of the journal, which contains records
	// until they are in the database. Only one process can use a journal. Default: beside
	// the file of SQLite; for PostgreSQL, in Caddy's data directory. A second process with
	// the same default uses a directory of its own.
	Journal string `json:"journal,omitempty"`

	// JournalMax is the largest size of the journal in bytes. While the journal is
	// larger, OnError applies. A request takes about 230 bytes, from its beginning until
	// some seconds after its record is in the database. At least 1048576 (1 MiB).
	// Default: 4294967296 (4 GiB).
	JournalMax int64 `json:"journal_max,omitempty"`

	// Sync is the interval at which the journal is flushed to the disk. A power failure
	// loses the records since the last flush. At most 1m. Default: 1s. Negative: each
	// record is flushed before the client gets the end of the answer.
	Sync caddy.Duration `json:"sync,omitempty"`

	// Records is the number of days for which single records are kept. Sums by hour are
	// kept for 400 days, other sums for ever. Default: 90.
	Records int `json:"records,omitempty"`

	// Zone is the time zone in which days and months begin: "Europe/Berlin". It cannot
	// be changed after the database is created. Default: "UTC".
	Zone string `json:"zone,omitempty"`
}

// leastJournalMax is the least JournalMax. The records of a second must have room, because
// the journal is written to the database once a second.
const leastJournalMax = 1 << 20

// Check returns an error for an invalid option.
func (o *LedgerOptions) Check() error {
	switch {
	case o.Records < 0:
		return errors.New("records must be a positive number of days")
	case o.JournalMax != 0 && o.JournalMax < leastJournalMax:
		return fmt.Errorf("journal_max must be at least %d bytes (1 MiB), the records of about a second of a busy gateway", leastJournalMax)
	case time.Duration(o.Sync) > time.Minute:
		return errors.New("sync must be at most 1m")
	}
	if o.Journal != "" && !filepath.IsAbs(o.Journal) {
		return errors.New("journal: the path must be absolute")
	}
	if o.Zone == "Local" { // differs between machines, and after a change of the machine's zone
		return errors.New("zone: Local depends on the machine; a time zone has a name such as Europe/Berlin")
	}
	if _, err := time.LoadLocation(o.Zone); err != nil {
		return fmt.Errorf("zone: %w", err)
	}
	return nil
}

// Dimension is a property of records by which usage is grouped.
type Dimension string

// The dimensions. A query may have at most one unit of time.
const (
	ByHour     Dimension = "hour"
	ByDay      Dimension = "day"
	ByMonth    Dimension = "month"
	ByKey      Dimension = "key"
	ByUser     Dimension = "user"
	ByLimit    Dimension = "limit" // the limit that the key names
	ByModel    Dimension = "model"
	ByProvider Dimension = "provider"
	ByUpstream Dimension = "upstream_model"
	ByOutcome  Dimension = "outcome"
	// ByCustomer and ByTag are labels, which not all exchanges have. A query may have one
	// label; it leaves out the exchanges without it.
	ByCustomer Dimension = "customer"
	// ByLabel are the labels themselves, ByCustomer and those of tags: an exchange counts once
	// for each label that it has. A query may have it in place of a label.
	ByLabel Dimension = "label"
)

// tagPrefix is the prefix of the dimensions of tags.
const tagPrefix = "tag:"

// ByTag returns the dimension of the tags with a name: "tag:team".
func ByTag(name string) Dimension { return Dimension(tagPrefix + name) }

// IsTag reports whether a dimension is that of tags with a name.
func (d Dimension) IsTag() bool {
	name, ok := strings.CutPrefix(string(d), tagPrefix)
	return ok && aigateway.CheckTagName(name) == nil
}

// IsLabel reports whether a dimension is a label.
func (d Dimension) IsLabel() bool { return d == ByCustomer || d.IsTag() }

// UsageQuery selects the records over which Usage returns sums.
type UsageQuery struct {
	From, To time.Time // whole hours; exchanges that were admitted at or after From, and before To
	By       []Dimension

	// Only selects the exchanges with these values of dimensions, such as a key or a model;
	// the empty value selects all. Labels and times cannot be selected by it.
	Only map[Dimension]string

	// Limits selects the exchanges of keys with one of these limits; empty for all.
	Limits []string

	// Label selects the exchanges with this label, and Value those with a value of it; empty
	// for all.
	Label Dimension
	Value string

	Currency string // only calls whose costs are in this currency; empty for all

	// Largest selects the values of the dimensions besides time that have sums of their
	// own. The sums of the others are added up, with the value Others. Nil adds up none.
	Largest *Largest

	// Limit is the largest number of sums. With 0, Usage returns ErrManySums if there are
	// more than MostSums.
	Limit int

	// After selects the sums after this one, which is the last sum of the page before.
	// Nil selects all.
	After *Usage
}

// Largest selects the values with the most of a measure in the whole time of a query, whatever
// the currency.
type Largest struct {
	Number  int // at least 1
	Measure Measure
}

// Measure is a number by which values are ordered: a cost, tokens, or requests.
type Measure string

// The measures.
const (
	MeasureCost     Measure = "cost"
	MeasureTokens   Measure = "tokens"
	MeasureRequests Measure = "requests"
)

// Others is the value of sums that add up what is not among the largest. It comes after all
// other values.
const Others = "\U0010FFFF"

// MostSums is the largest number of sums of a query without a limit.
const MostSums = 10_000

// ErrManySums is wrapped by errors of queries whose result has more than MostSums sums.
var ErrManySums = fmt.Errorf("more than %d sums", MostSums)

// Usage is a sum over records of one currency. It has the values of the dimensions of the
// query; other dimensions are empty.
type Usage struct {
	At                                                   time.Time
	Key, User, Limit, Model, Provider, Upstream, Outcome string
	Tag, Customer, Label                                 string

	Others int64 // number of values that are not among UsageQuery.Largest, if the sum is theirs

	Requests  int64
	Calls     int64 // of providers
	Streams   int64
	Estimated int64 // calls with counts that the provider has not reported
	Unpriced  int64 // calls whose cost is unknown, or known in part; Cost includes the known parts
	Tokens    token.Counts
	Cost      aigateway.Cost
	Held      int64 // nanos that budgets count, in addition, for what is unknown of costs
	Saved     int64 // nanos that the cache of answers has saved, of the currency of Cost

	Duration   time.Duration // sum over all requests
	FirstByte  time.Duration // sum over the requests with an answer
	FirstBytes int64         // number of the requests with an answer
}

// RecordPage is a page of records. The costs and prices of calls are those of the last
// correction; see LedgerRepricer.
type RecordPage struct {
	Records []Record // the newest first

	// Before is RecordQuery.Before of the following page; 0 on the last page. A page may
	// contain fewer records than the limit, or none, although another page follows: the
	// work for one page is bounded.
	Before int64
	Since  time.Time // the time of Before
}

// StoreFiles is an optional interface of a Store that keeps its content, and its ledger, in
// files of this machine. The methods need no open store, and may run in another process than
// the gateway.
type StoreFiles interface {
	// Backup copies the store and the ledger with these options to a new or empty folder,
	// while gateways use them. Only the owner can read the copies.
	Backup(ctx context.Context, ledger LedgerOptions, folder string) error
	// Restore copies a backup to the files of the store, and of the ledger with these
	// options. No gateway may use them; Restore returns an error if one uses the journal.
	// Files that are already there are an error, unless replace is true: Restore then adds
	// kept to their names.
	Restore(ctx context.Context, ledger LedgerOptions, folder string, replace bool) (kept string, err error)
}

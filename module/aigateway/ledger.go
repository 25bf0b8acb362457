package aigateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// ErrLedger is wrapped by errors of Begin: nothing can be written down.
var ErrLedger = errors.New("the ledger cannot be written")

// Ledger writes records of exchanges down, once each.
//
// Begin and End do no database I/O. What they returned for without an error is
// kept, however the process ends: what began and did not end gets the outcome
// OutcomeCrashed at the next start.
type Ledger interface {
	// Begin writes down that an exchange begins, before any provider is asked, and
	// sets ID and Admitted of the record, even if it returns an error, which wraps
	// ErrLedger.
	Begin(*Record) error
	// End writes down the whole record. An error is logged, and End goes on trying.
	End(*Record)

	// Settled returns when all records that have ended before the call can be read, or
	// with the error of the context.
	Settled(context.Context) error

	// LedgerReader reads what this ledger and others have written to the database.
	LedgerReader

	// Release ends one use. The last one closes the ledger, once no exchange runs.
	Release() error
}

// LedgerStore is an optional interface of a Store that can keep a ledger.
type LedgerStore interface {
	// OpenLedger returns the ledger of the store: the same one for the same journal,
	// with the options of the last call. It opens the journal, and not the database. Each call needs one of Ledger.Release.
	OpenLedger(LedgerOptions) (Ledger, error)

	// What any gateway with this store has written down can be read without a ledger
	// that is open.
	LedgerReader
}

// LedgerReader reads what ledgers have written.
type LedgerReader interface {
	// Usage adds records up. See UsageQuery. The sums come in the order of time, then of
	// the other dimensions as the query lists them, by the bytes of their texts, and then
	// of currencies.
	Usage(context.Context, UsageQuery) ([]Usage, error)
	// Records returns single records. See RecordQuery.
	Records(context.Context, RecordQuery) ([]Record, error)
	// Location returns the time zone of days and months.
	Location(context.Context) (*time.Location, error)
}

// LedgerOptions configure a ledger. The zero value of a field selects its
// default.
type LedgerOptions struct {
	// Journal is the directory of the journal, which has records until they are in
	// the database. No two processes can use one. Default: beside the file of SQLite,
	// and in Caddy's data directory for PostgreSQL; a second process with the same
	// default uses a directory of its own.
	Journal string `json:"journal,omitempty"`

	// JournalMax is the size of the journal in bytes beyond which OnError applies.
	// Default: 4294967296 (4 GiB).
	JournalMax int64 `json:"journal_max,omitempty"`

	// Sync is how often the journal is put on the disk: a loss of power takes what
	// was written since. At most 1m. Default: 1s. Negative: with each record, before
	// its client gets the end of the answer.
	Sync caddy.Duration `json:"sync,omitempty"`

	// Records is for how many days single records are kept. Sums are kept for ever,
	// those of hours for 400 days. Default: 90.
	Records int `json:"records,omitempty"`

	// Zone is the time zone of days and months: "Europe/Berlin". It is fixed when
	// the database is made. Default: "UTC".
	Zone string `json:"zone,omitempty"`
}

// Check returns an error for options that cannot be.
func (o *LedgerOptions) Check() error {
	switch {
	case o.Records < 0:
		return errors.New("records is a number of days above zero")
	case o.JournalMax < 0:
		return errors.New("journal_max is a size above zero")
	case time.Duration(o.Sync) > time.Minute:
		return errors.New("sync is at most 1m")
	}
	if _, err := time.LoadLocation(o.Zone); err != nil {
		return fmt.Errorf("zone: %w", err)
	}
	return nil
}

// Dimension is what usage is divided by.
type Dimension string

// The dimensions. At most one is a unit of time.
const (
	ByHour     Dimension = "hour"
	ByDay      Dimension = "day"
	ByMonth    Dimension = "month"
	ByKey      Dimension = "key"
	ByUser     Dimension = "user"
	ByModel    Dimension = "model"
	ByProvider Dimension = "provider"
	ByUpstream Dimension = "upstream_model"
	ByOutcome  Dimension = "outcome"
)

// UsageQuery selects what Usage adds up.
type UsageQuery struct {
	From, To time.Time // whole hours; exchanges that were admitted from From on, before To
	By       []Dimension
	User     string // only of this user; empty for all
	Key      string // only of this key; empty for all

	// Limits selects the exchanges of keys that named one of these limits; empty for
	// all.
	Limits []string

	// Limit is the largest number of sums. With 0, more than MostSums are ErrManySums.
	Limit int

	// After selects the sums behind this one: the last sum of the page before. Nil
	// selects all.
	After *Usage
}

// MostSums is the largest number of sums of a query without a limit.
const MostSums = 50_000

// ErrManySums is wrapped by errors of queries whose result has more than MostSums sums.
var ErrManySums = fmt.Errorf("more than %d sums", MostSums)

// Usage is a sum of records, with the values of the dimensions that were asked for;
// the others are empty. There is one for each currency.
type Usage struct {
	At                                            time.Time
	Key, User, Model, Provider, Upstream, Outcome string

	Requests  int64
	Calls     int64 // of providers
	Streams   int64
	Estimated int64 // calls whose counts are not the provider's
	Unpriced  int64 // calls whose cost is unknown: with any, Cost is a floor
	Tokens    Tokens
	Cost      Cost
	Held      int64 // nanos that budgets count for calls of unknown cost

	Duration   time.Duration // of all requests together
	FirstByte  time.Duration // of those that got an answer together
	FirstBytes int64         // how many those are
}

// RecordQuery selects a page of records, the newest first.
type RecordQuery struct {
	Before int64  // only with a smaller ID; 0 for all
	User   string // only of this user; empty for all
	Key    string // only of this key; empty for all
	Limit  int    // at most how many, from 1
}

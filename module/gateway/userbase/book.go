package userbase

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Ledger configures the ledger.
type Ledger struct {
	aigateway.LedgerOptions

	// OnError selects what becomes of requests while the ledger cannot be written, such
	// as on a full disk: "serve" answers them without a record, and logs that;
	// "block" refuses them with 503 before any provider is asked. Requests of keys with a
	// budget that is not soft are refused in any case. Default: "serve".
	OnError string `json:"on_error,omitempty"`
}

// The values of OnError.
const (
	OnErrorServe = "serve"
	OnErrorBlock = "block"
)

// Check returns an error for a ledger that cannot be.
func (l *Ledger) Check() error {
	switch l.OnError {
	case "", OnErrorServe, OnErrorBlock:
		return l.LedgerOptions.Check()
	}
	return fmt.Errorf("on_error must be '%s' or '%s'", OnErrorServe, OnErrorBlock)
}

// errNoLedger is returned for a store that keeps no ledger, or for none.
var errNoLedger = errors.New("ledger needs a store that can keep one: sqlite or postgres")

// Book is the ledger of a userbase. It is opened when it is needed: validating a
// configuration must not create any file.
type Book struct {
	config   Ledger
	required bool           // it is configured
	zone     *time.Location // of days and months
	store    aigateway.LedgerStore

	once   sync.Once
	opened aigateway.Ledger
	err    error
}

// newBook returns the book of a configuration, nil if the ledger is off. Without a word
// about it, the ledger is on if the store can keep one.
func newBook(o Options, store aigateway.Store) (*Book, error) {
	keeper, ok := store.(aigateway.LedgerStore)
	switch {
	case o.DisableLedger:
		return nil, nil
	case o.Ledger == nil && !ok:
		return nil, nil
	case o.Ledger == nil:
		return &Book{zone: time.UTC, store: keeper}, nil
	case !ok:
		return nil, errNoLedger
	}
	if err := o.Ledger.Check(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	zone, err := time.LoadLocation(o.Ledger.Zone)
	if err != nil {
		return nil, fmt.Errorf("ledger: zone: %w", err)
	}
	return &Book{config: *o.Ledger, required: true, zone: zone, store: keeper}, nil
}

// Start opens the ledger. If it cannot be opened, that is an error for a configured
// ledger alone, such as that another process uses its journal: each would write down a
// part of the exchanges. A gateway whose disk cannot be written serves without it.
func (b *Book) Start(logger *zap.Logger) error {
	if b == nil {
		return nil
	}
	_, err := b.Open()
	if err == nil {
		return nil
	}
	if b.required {
		return fmt.Errorf("opening ledger: %w", err)
	}
	logger.Error("the ledger cannot be opened: exchanges leave no record", zap.Error(err))
	return nil
}

// Zone returns the time zone of days and months.
func (b *Book) Zone() *time.Location { return b.zone }

// Usage adds up what has ended before the call. See aigateway.LedgerReader.
func (b *Book) Usage(ctx context.Context, q aigateway.UsageQuery) ([]aigateway.Usage, error) {
	opened, err := b.Open()
	if err != nil {
		return nil, err
	}
	if err := opened.Settled(ctx); err != nil {
		return nil, fmt.Errorf("waiting for the ledger: %w", err)
	}
	return opened.Usage(ctx, q)
}

// Open returns the ledger, and opens it if it is needed for the first time.
func (b *Book) Open() (aigateway.Ledger, error) {
	b.once.Do(func() { b.opened, b.err = b.store.OpenLedger(b.config.LedgerOptions) })
	return b.opened, b.err
}

// Release gives the ledger back, if it was opened. It is not opened any more.
func (b *Book) Release() error {
	if b == nil {
		return nil
	}
	b.once.Do(func() { b.err = errors.New("the configuration is no longer used") })
	if b.err != nil {
		return nil
	}
	return b.opened.Release()
}

// Begin begins the record of an exchange, with the most that it may cost, and writes it
// down if there is a ledger. It returns a fault if that fails, and the exchange needs the
// ledger or requests are not to be served then.
func (b *Book) Begin(ex *exchange.Exchange, price meter.Pricer, bound aigateway.Cost, needed bool) (*meter.Entry, *fault.Fault) {
	entry := meter.NewEntry(price, ex, bound)
	if b == nil {
		return entry, nil
	}
	opened, err := b.Open()
	if err == nil {
		err = entry.Begin(opened)
	}
	if err != nil {
		metrics.LedgerRefusal()
	}
	if err != nil && (needed || b.config.OnError == OnErrorBlock) {
		return entry, fault.LedgerUnavailable(err)
	}
	return entry, nil
}

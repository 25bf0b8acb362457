package backends

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/events"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Ledger configures the ledger.
type Ledger struct {
	accounting.LedgerOptions

	// OnError selects how requests are treated while the ledger cannot be written, for
	// example because the disk is full. "serve" answers them without a record, and logs
	// that. "block" refuses them with 503 before any provider is asked. Requests of keys
	// with a budget that is not soft are always refused. Default: "serve".
	OnError string `json:"on_error,omitempty"`
}

// The values of OnError.
const (
	OnErrorServe = "serve"
	OnErrorBlock = "block"
)

// Check returns an error for an invalid configuration.
func (l *Ledger) Check() error {
	switch l.OnError {
	case "", OnErrorServe, OnErrorBlock:
		return l.LedgerOptions.Check()
	}
	return fmt.Errorf("on_error must be '%s' or '%s'", OnErrorServe, OnErrorBlock)
}

// errNoLedger is the error of a configured ledger without a store that can keep it.
var errNoLedger = errors.New("ledger needs a store that can keep one: sqlite or postgres")

// Book is the ledger of a site. It is opened at its first use, because
// validating a configuration must not create a file.
type Book struct {
	config   Ledger
	required bool           // the ledger is configured
	zone     *time.Location // of days and months
	store    accounting.LedgerStore

	opening  sync.Mutex             // is held while the ledger is opened or released
	ledger   atomic.Pointer[opened] // nil before the first use
	retries  sync.WaitGroup         // the goroutine of retry
	released chan struct{}          // is closed by Release
}

// opened is the result of opening the ledger.
type opened struct {
	accounting.Ledger
	err error
}

// Options returns the options of the ledger, those of none if b is nil.
func (b *Book) Options() accounting.LedgerOptions {
	if b == nil {
		return accounting.LedgerOptions{}
	}
	return b.config.LedgerOptions
}

// newBook returns the book of a configuration, nil if the ledger is off. If the ledger is
// neither configured nor disabled, it is on if the store can keep one.
func newBook(o Options, store aigateway.Store) (*Book, error) {
	keeper, ok := store.(accounting.LedgerStore)
	switch {
	case o.DisableLedger:
		return nil, nil
	case o.Ledger == nil && !ok:
		return nil, nil
	case o.Ledger == nil:
		return &Book{zone: time.UTC, store: keeper, released: make(chan struct{})}, nil
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
	return &Book{config: *o.Ledger, required: true, zone: zone, store: keeper, released: make(chan struct{})}, nil
}

// Start opens the ledger. It returns an error only if the ledger is configured, and only
// one that does not pass by itself. For example, another process may use the journal, so
// that each would record a part of the exchanges. If the files of the journal cannot be
// used now, or with the default ledger, the gateway runs without records instead.
func (b *Book) Start(logger *zap.Logger) error {
	if b == nil {
		return nil
	}
	_, err := b.Open()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, accounting.ErrLedger):
		logger.Error("the ledger cannot be opened, and exchanges are not recorded; opening is tried again", zap.Error(err))
		events.Emit(events.LedgerBlocked, map[string]any{"error": err.Error()})
		b.retries.Go(func() { b.retry(logger) })
		return nil
	case b.required:
		return fmt.Errorf("opening ledger: %w", err)
	}
	logger.Error("opening the ledger failed; no usage is recorded", zap.Error(err))
	return nil
}

// retryEvery is the time between two attempts to open the ledger.
const retryEvery = 2 * time.Second

// retry tries to open the ledger until that succeeds, or the book is released.
func (b *Book) retry(logger *zap.Logger) {
	for {
		select {
		case <-b.released:
			return
		case <-time.After(retryEvery):
		}
		if err := b.reopen(); err == nil {
			logger.Info("the ledger is open; exchanges are recorded again")
			events.Emit(events.LedgerRecovered, nil)
			return
		}
	}
}

// Zone returns the time zone in which days and months begin.
func (b *Book) Zone() *time.Location { return b.zone }

// Location returns the time zone of the days and months in the sums of the ledger, which is Zone
// unless the database was created with another one.
func (b *Book) Location(ctx context.Context) (*time.Location, error) {
	opened, err := b.Open()
	if err != nil {
		return nil, err
	}
	return opened.Location(ctx)
}

// Usage returns sums over the exchanges that have ended before the call. See
// accounting.LedgerReader.
func (b *Book) Usage(ctx context.Context, q accounting.UsageQuery) ([]accounting.Usage, error) {
	opened, err := b.Open()
	if err != nil {
		return nil, err
	}
	if err := opened.Settled(ctx); err != nil {
		return nil, fmt.Errorf("waiting for the ledger: %w", err)
	}
	return opened.Usage(ctx, q)
}

// Deferring returns the ledger if it keeps deferred charges, else nil.
func (b *Book) Deferring() accounting.DeferringLedger {
	if b == nil {
		return nil
	}
	opened, err := b.Open()
	if err != nil {
		return nil
	}
	deferring, _ := opened.(accounting.DeferringLedger)
	return deferring
}

// Defers reports whether the ledger keeps deferred charges.
func (b *Book) Defers() bool { return b.Deferring() != nil }

// Open returns the ledger. The first call opens it.
func (b *Book) Open() (accounting.Ledger, error) {
	if o := b.ledger.Load(); o != nil {
		return o.Ledger, o.err
	}
	b.opening.Lock()
	defer b.opening.Unlock()
	if b.ledger.Load() == nil {
		b.open()
	}
	o := b.ledger.Load()
	return o.Ledger, o.err
}

// open opens the ledger, and keeps the result. The caller holds opening.
func (b *Book) open() {
	l, err := b.store.OpenLedger(b.config.LedgerOptions)
	b.ledger.Store(&opened{l, err})
}

// reopen opens the ledger after an earlier failure.
func (b *Book) reopen() error {
	b.opening.Lock()
	defer b.opening.Unlock()
	if !errors.Is(b.ledger.Load().err, errReleased) {
		b.open()
	}
	return b.ledger.Load().err
}

// Problem returns why exchanges leave no record, nil if they do, and before the first use.
func (b *Book) Problem() error {
	if b == nil {
		return nil
	}
	o := b.ledger.Load()
	if o == nil {
		return nil
	}
	if failing, ok := o.Ledger.(aigateway.Degradable); ok && o.err == nil {
		return failing.Degraded()
	}
	return o.err
}

// errReleased is the error of a Book after Release.
var errReleased = errors.New("the configuration is no longer used")

// Release releases the ledger if it is open. After that, Open returns an error if the
// ledger was not open.
func (b *Book) Release() error {
	if b == nil {
		return nil
	}
	close(b.released)
	b.retries.Wait()
	b.opening.Lock()
	defer b.opening.Unlock()
	if o := b.ledger.Load(); o != nil && o.err == nil {
		return o.Release()
	}
	b.ledger.Store(&opened{err: errReleased})
	return nil
}

// Begin begins the record of an exchange, and writes its beginning if there is a ledger.
// If writing fails, Begin returns a fault if needed is true or OnError is "block".
func (b *Book) Begin(ex *exchange.Exchange, price meter.Pricer, bound meter.Bound, needed bool) (*meter.Entry, *fault.Fault) {
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

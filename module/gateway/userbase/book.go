package userbase

import (
	"errors"
	"fmt"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Ledger configures the ledger.
type Ledger struct {
	aigateway.LedgerOptions

	// OnError says what becomes of requests while the ledger cannot be written, such
	// as on a full disk: "serve" answers them without a record, which the log says;
	// "block" refuses them with 503 before any provider is asked. Default: "serve".
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
	config Ledger
	store  aigateway.LedgerStore

	once   sync.Once
	opened aigateway.Ledger
	err    error
}

// newBook returns nil without a configured ledger.
func newBook(config *Ledger, store aigateway.Store) (*Book, error) {
	if config == nil {
		return nil, nil
	}
	if err := config.Check(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	keeper, ok := store.(aigateway.LedgerStore)
	if !ok {
		return nil, errNoLedger
	}
	return &Book{config: *config, store: keeper}, nil
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

// Begin writes down that an exchange begins. It returns a fault if that fails and
// requests are not to be served then, and nil and nil without a ledger.
func (b *Book) Begin(ex *exchange.Exchange, price meter.Pricer) (*meter.Entry, *fault.Fault) {
	if b == nil {
		return nil, nil
	}
	opened, err := b.Open()
	var entry *meter.Entry
	if err == nil {
		entry, err = meter.Begin(opened, price, ex)
	}
	if err != nil && b.config.OnError == OnErrorBlock {
		return entry, fault.LedgerUnavailable(err)
	}
	return entry, nil
}

// Package backends loads the store of users and keys that a site uses, the ledger in that
// store, and the accounts that manage the users. Loading opens nothing, so that validating
// a configuration creates no file.
package backends

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// Options configure the backends of a site.
type Options struct {
	// StoreRaw is the database of users, their sessions and their keys. Its keys are valid
	// in addition to those of the key sources. Either the global option or sites may have
	// one. Default: SQLite, in a file of Caddy's data directory; none if accounts are
	// disabled.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=ai_gateway.stores inline_key=store"`

	// Ledger configures the ledger, which records the usage of every exchange in the
	// store. Either the global option or sites may configure it. Default: on, with its
	// defaults, if there is a store that can keep a ledger.
	Ledger *Ledger `json:"ledger,omitempty"`

	// DisableLedger switches the ledger off. Default: false.
	DisableLedger bool `json:"disable_ledger,omitempty"`

	// Accounts configure how users log in and make keys, below /api/: see the module
	// ai_gateway.accounts. Either the global option or sites may have them. Default:
	// on, with its defaults.
	AccountsRaw json.RawMessage `json:"accounts,omitempty"`

	// DisableAccounts switches accounts off: requests for paths below /api/ go to the
	// next handler of the site. The keys of a configured store still work. Default:
	// false.
	DisableAccounts bool `json:"disable_accounts,omitempty"`
}

// Set is the backends of a site: the store of users and their keys, the accounts that manage them,
// and the ledger.
type Set struct {
	Store    aigateway.Store    // nil if keys come from the configuration alone
	Accounts aigateway.Accounts // nil if accounts are off
	Book     *Book              // nil if the ledger is off
	Billing  Billing            // nil without a ledger, and in builds without it
}

// Billing is the interface of the module ai_gateway.billing, which shows the usage of a key in the
// formats of existing clients.
type Billing interface {
	// Serves reports whether Answer answers GET requests for a path.
	Serves(path string) bool
	// Answer returns the answer to a request with a key. left returns the remainder of the budgets
	// of the key in a currency; it is nil if nothing limits the key.
	Answer(r *http.Request, key *aigateway.Key, ledger accounting.LedgerReader, left func(context.Context, *aigateway.Key, string) (*int64, error)) ([]byte, *fault.Fault)
}

// The defaults of Options.
const (
	accountsModule = "ai_gateway.accounts"
	billingModule  = "ai_gateway.billing"
	defaultStore   = `{"store":"sqlite"}`
	defaultConfig  = `{}`
)

func (o *Options) setsAccounts() bool { return o.AccountsRaw != nil || o.DisableAccounts }

func (o *Options) setsLedger() bool { return o.Ledger != nil || o.DisableLedger }

// Configured reports whether the options configure store, ledger or accounts.
func (o *Options) Configured() bool {
	return o.StoreRaw != nil || o.setsLedger() || o.setsAccounts()
}

// Inherit sets the options that the site leaves empty to those of the global option. An
// option that is set in both is an error.
func (o *Options) Inherit(global *Options) error {
	switch {
	case o.StoreRaw != nil && global.StoreRaw != nil:
		return errors.New("store is set in the global option ai_gateway already")
	case o.setsLedger() && global.setsLedger():
		return errors.New("ledger is set in the global option ai_gateway already")
	case o.setsAccounts() && global.setsAccounts():
		return errors.New("accounts is set in the global option ai_gateway already")
	}
	if o.StoreRaw == nil {
		o.StoreRaw = global.StoreRaw
	}
	if !o.setsLedger() {
		o.Ledger, o.DisableLedger = global.Ledger, global.DisableLedger
	}
	if !o.setsAccounts() {
		o.AccountsRaw, o.DisableAccounts = global.AccountsRaw, global.DisableAccounts
	}
	return nil
}

// Load returns the backends of the options. It opens nothing.
func Load(ctx caddy.Context, o Options) (*Set, error) {
	switch {
	case o.DisableAccounts && o.AccountsRaw != nil:
		return nil, errors.New("accounts are both configured and disabled")
	case o.DisableLedger && o.Ledger != nil:
		return nil, errors.New("ledger is both configured and disabled")
	}
	set := new(Set)
	if !o.Configured() && !builtIn("ai_gateway.stores.sqlite", accountsModule) {
		return set, nil // a custom build may leave them out
	}
	if o.StoreRaw == nil && o.DisableAccounts && o.Ledger == nil {
		return set, nil
	}
	if err := set.loadStore(ctx, o); err != nil {
		return nil, fmt.Errorf("loading store: %w", err)
	}
	var err error
	if set.Book, err = newBook(o, set.Store); err != nil {
		return nil, err
	}
	if set.Book != nil && builtIn(billingModule) {
		mod, err := ctx.LoadModuleByID(billingModule, nil)
		if err != nil {
			return nil, fmt.Errorf("loading billing: %w", err)
		}
		set.Billing = mod.(Billing)
	}
	if o.DisableAccounts {
		return set, nil
	}
	if err := set.loadAccounts(ctx, o.AccountsRaw); err != nil {
		return nil, fmt.Errorf("loading accounts: %w", err)
	}
	return set, nil
}

// loadStore loads the store of a configuration. o is a copy, because loading empties the
// raw field, which sites inherit.
func (s *Set) loadStore(ctx caddy.Context, o Options) error {
	if o.StoreRaw == nil {
		o.StoreRaw = json.RawMessage(defaultStore)
	}
	mod, err := ctx.LoadModule(&o, "StoreRaw")
	if err != nil {
		return err
	}
	s.Store = mod.(aigateway.Store)
	return nil
}

// loadAccounts loads the accounts that manage the users of the store.
func (s *Set) loadAccounts(ctx caddy.Context, raw json.RawMessage) error {
	if raw == nil {
		raw = json.RawMessage(defaultConfig)
	}
	mod, err := ctx.LoadModuleByID(accountsModule, raw)
	if err != nil {
		return err
	}
	s.Accounts = mod.(aigateway.Accounts)
	s.Accounts.UseStore(s.Store)
	return nil
}

// builtIn reports whether all of the modules are compiled in.
func builtIn(modules ...string) bool {
	for _, id := range modules {
		if _, err := caddy.GetModule(id); err != nil {
			return false
		}
	}
	return true
}

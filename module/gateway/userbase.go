package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// userbase is the store of users and their keys, and the accounts that manage them.
type userbase struct {
	store    aigateway.Store    // nil: keys come from the configuration alone
	accounts aigateway.Accounts // nil: off
	book     *book              // nil: exchanges leave no record
}

// The userbase of a configuration without store and accounts.
const (
	accountsModule = "ai_gateway.accounts"
	defaultStore   = `{"store":"sqlite"}`
	defaultConfig  = `{}`
)

func (c *Config) configuresAccounts() bool { return c.AccountsRaw != nil || c.DisableAccounts }

// ownUserbase reports whether c configures store, ledger or accounts.
func (c *Config) ownUserbase() bool {
	return c.StoreRaw != nil || c.Ledger != nil || c.configuresAccounts()
}

// inheritUserbase sets what the site leaves open.
func (c *Config) inheritUserbase(app *Config) error {
	switch {
	case c.StoreRaw != nil && app.StoreRaw != nil:
		return errors.New("store is set in the global option ai_gateway already")
	case c.Ledger != nil && app.Ledger != nil:
		return errors.New("ledger is set in the global option ai_gateway already")
	case c.configuresAccounts() && app.configuresAccounts():
		return errors.New("accounts is set in the global option ai_gateway already")
	}
	if c.StoreRaw == nil {
		c.StoreRaw = app.StoreRaw
	}
	if c.Ledger == nil {
		c.Ledger = app.Ledger
	}
	if !c.configuresAccounts() {
		c.AccountsRaw, c.DisableAccounts = app.AccountsRaw, app.DisableAccounts
	}
	return nil
}

// loadUserbase loads store, ledger and accounts. Nothing is opened: validating a configuration
// must not create any file.
func (c *Config) loadUserbase(ctx caddy.Context) (*userbase, error) {
	if c.DisableAccounts && c.AccountsRaw != nil {
		return nil, errors.New("accounts are configured and disabled at once")
	}
	users := new(userbase)
	if !c.ownUserbase() && !builtIn("ai_gateway.stores.sqlite", accountsModule) {
		return users, nil // a custom build may leave them out
	}
	if c.StoreRaw == nil && c.DisableAccounts && c.Ledger == nil {
		return users, nil
	}
	if err := users.loadStore(ctx, *c); err != nil {
		return nil, fmt.Errorf("loading store: %w", err)
	}
	var err error
	if users.book, err = newBook(c.Ledger, users.store); err != nil {
		return nil, err
	}
	if c.DisableAccounts {
		return users, nil
	}
	if err := users.loadAccounts(ctx, c.AccountsRaw); err != nil {
		return nil, fmt.Errorf("loading accounts: %w", err)
	}
	return users, nil
}

// loadStore loads the store of a configuration. It takes a copy: loading empties the
// raw field, which sites inherit.
func (u *userbase) loadStore(ctx caddy.Context, c Config) error {
	if c.StoreRaw == nil {
		c.StoreRaw = json.RawMessage(defaultStore)
	}
	mod, err := ctx.LoadModule(&c, "StoreRaw")
	if err != nil {
		return err
	}
	u.store = mod.(aigateway.Store)
	return nil
}

// loadAccounts loads the accounts that manage the users of the store.
func (u *userbase) loadAccounts(ctx caddy.Context, raw json.RawMessage) error {
	if raw == nil {
		raw = json.RawMessage(defaultConfig)
	}
	mod, err := ctx.LoadModuleByID(accountsModule, raw)
	if err != nil {
		return err
	}
	u.accounts = mod.(aigateway.Accounts)
	u.accounts.UseStore(u.store)
	return nil
}

// builtIn reports whether this build has all of the modules.
func builtIn(modules ...string) bool {
	for _, id := range modules {
		if _, err := caddy.GetModule(id); err != nil {
			return false
		}
	}
	return true
}

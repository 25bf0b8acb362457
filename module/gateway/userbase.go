package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// userbase is where users and their keys are kept, and what manages them.
type userbase struct {
	store    aigateway.Store    // nil: keys come from the configuration alone
	accounts aigateway.Accounts // nil: off
}

// The userbase of a configuration that says nothing about it.
const (
	accountsModule = "ai_gateway.accounts"
	defaultStore   = `{"store":"sqlite"}`
	defaultConfig  = `{}`
)

func (c *Config) configuresAccounts() bool { return c.AccountsRaw != nil || c.DisableAccounts }

// ownUserbase reports whether c says anything about users.
func (c *Config) ownUserbase() bool { return c.StoreRaw != nil || c.configuresAccounts() }

// inheritUserbase fills what the site leaves open.
func (c *Config) inheritUserbase(app *Config) error {
	switch {
	case c.StoreRaw != nil && app.StoreRaw != nil:
		return errors.New("store is set in the global option ai_gateway already")
	case c.configuresAccounts() && app.configuresAccounts():
		return errors.New("accounts is set in the global option ai_gateway already")
	}
	if c.StoreRaw == nil {
		c.StoreRaw = app.StoreRaw
	}
	if !c.configuresAccounts() {
		c.AccountsRaw, c.DisableAccounts = app.AccountsRaw, app.DisableAccounts
	}
	return nil
}

// loadUserbase loads what c says about users. Nothing is opened: validating a
// configuration must not create any file.
func (c *Config) loadUserbase(ctx caddy.Context) (*userbase, error) {
	if c.DisableAccounts && c.AccountsRaw != nil {
		return nil, errors.New("accounts are configured and disabled at once")
	}
	if !c.ownUserbase() && !builtIn("ai_gateway.stores.sqlite", accountsModule) {
		return new(userbase), nil // a build of one's own may leave them out
	}
	own := *c // a copy: loading empties the raw field, which sites inherit
	if own.StoreRaw == nil && own.DisableAccounts {
		return new(userbase), nil
	}
	if own.StoreRaw == nil {
		own.StoreRaw = json.RawMessage(defaultStore)
	}
	store, err := ctx.LoadModule(&own, "StoreRaw")
	if err != nil {
		return nil, fmt.Errorf("loading store: %w", err)
	}
	users := &userbase{store: store.(aigateway.Store)}
	if own.DisableAccounts {
		return users, nil
	}
	if own.AccountsRaw == nil {
		own.AccountsRaw = json.RawMessage(defaultConfig)
	}
	accounts, err := ctx.LoadModuleByID(accountsModule, own.AccountsRaw)
	if err != nil {
		return nil, fmt.Errorf("loading accounts: %w", err)
	}
	users.accounts = accounts.(aigateway.Accounts)
	users.accounts.UseStore(users.store)
	return users, nil
}

func builtIn(modules ...string) bool {
	for _, id := range modules {
		if _, err := caddy.GetModule(id); err != nil {
			return false
		}
	}
	return true
}

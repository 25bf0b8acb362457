package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/accounting"
)

// defaultStore is the store of a configuration that sets none.
var defaultStore = json.RawMessage(`{"store":"sqlite"}`)

var errNoStore = errors.New("the configuration has no site with ai_gateway, or its accounts are off")

var errManyStores = errors.New("the sites of the configuration have several stores: set store in the global option ai_gateway, or use --address with a running Caddy")

// selectedStore returns the store that the flags of a command select, and its configuration,
// nil for the default store.
func selectedStore(cmd *cobra.Command) (store json.RawMessage, config []byte, err error) {
	if config, err = selectedConfig(cmd); err != nil || config == nil {
		return defaultStore, nil, err
	}
	store, err = storeOf(config)
	return store, config, err
}

// storeOf returns the store of a configuration: the store of the global option, or else
// the only store of the sites.
func storeOf(config []byte) (json.RawMessage, error) {
	var root struct {
		Apps struct {
			Gateway struct {
				Store    json.RawMessage
				Disabled bool `json:"disable_accounts"`
			} `json:"ai_gateway"`
			HTTP any
		}
	}
	if err := json.Unmarshal(config, &root); err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	if store := root.Apps.Gateway.Store; store != nil {
		return store, nil
	}
	if root.Apps.Gateway.Disabled {
		return nil, errNoStore
	}
	stores := slices.Compact(slices.Sorted(slices.Values(siteStores(root.Apps.HTTP))))
	switch len(stores) {
	case 0:
		return nil, errNoStore
	case 1:
		return json.RawMessage(stores[0]), nil
	}
	return nil, errManyStores
}

// siteStores returns the stores of all sites with a gateway, as JSON.
func siteStores(http any) (stores []string) {
	for _, site := range sites(http) {
		stores = append(stores, storeOfSite(site)...)
	}
	return stores
}

// sites returns all handlers ai_gateway in a part of a configuration.
func sites(value any) (found []map[string]any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			found = append(found, sites(item)...)
		}
	case map[string]any:
		if v["handler"] == "ai_gateway" {
			return []map[string]any{v}
		}
		for _, item := range v {
			found = append(found, sites(item)...)
		}
	}
	return found
}

// storeOfSite returns the store of a site, or nothing if it has none.
func storeOfSite(site map[string]any) []string {
	store, ok := site["store"]
	switch {
	case ok:
		raw, _ := json.Marshal(store) // no error, because the value was decoded from JSON
		return []string{string(raw)}
	case site["disable_accounts"] == true:
		return nil
	}
	return []string{string(defaultStore)}
}

// withStore runs a function with the selected store, which it names, and the options of its ledger.
func withStore(cmd *cobra.Command, run func(aigateway.Store, accounting.LedgerOptions) error) error {
	raw, config, err := selectedStore(cmd)
	if err != nil {
		return err
	}
	options := accounting.LedgerOptions{}
	if config != nil {
		if options, err = ledgerOf(config); err != nil {
			return err
		}
	}
	ctx, err := newContext()
	if err != nil {
		return err
	}
	ctx, cancel := caddy.NewContext(ctx)
	defer cancel()
	store, err := loadStore(ctx, raw)
	if err != nil {
		return err
	}
	printStore(cmd, store)
	return run(store, options)
}

// ledgerOf returns the options of the ledger of a configuration: those of the global option,
// or else those of the first site that has some.
func ledgerOf(config []byte) (options accounting.LedgerOptions, err error) {
	var root struct {
		Apps struct {
			Gateway struct{ Ledger json.RawMessage } `json:"ai_gateway"`
			HTTP    any
		}
	}
	if err := json.Unmarshal(config, &root); err != nil {
		return options, fmt.Errorf("reading the configuration: %w", err)
	}
	found := root.Apps.Gateway.Ledger
	for _, site := range sites(root.Apps.HTTP) {
		if found == nil && site["ledger"] != nil {
			found, _ = json.Marshal(site["ledger"]) // no error, because the value was decoded from JSON
		}
	}
	if found != nil {
		err = json.Unmarshal(found, &options)
	}
	return options, err
}

// loadStore loads the module of a store.
func loadStore(ctx caddy.Context, config json.RawMessage) (aigateway.Store, error) {
	holder := struct {
		StoreRaw json.RawMessage `caddy:"namespace=ai_gateway.stores inline_key=store"`
	}{config}
	mod, err := ctx.LoadModule(&holder, "StoreRaw")
	if err != nil {
		return nil, fmt.Errorf("loading store: %w", err)
	}
	return mod.(aigateway.Store), nil
}

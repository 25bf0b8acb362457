package caddyfile

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// The words of this file are read by guest modules, which define their syntax.

// The namespaces and modules of the words.
const (
	keysNamespace   = "ai_gateway.keys"
	keySource       = "config" // the key source of the word "key"
	keysFile        = "file"
	storesNamespace = "ai_gateway.stores"
	accountsModule  = "ai_gateway.accounts"

	countersNamespace = "ai_gateway.counters"
	cachesNamespace   = "ai_gateway.caches"
)

// readKey passes a segment to the key source of the configuration.
func readKey(d *cf.Dispenser, c *config) error {
	if c.keys == nil {
		mod, err := caddy.GetModule(keysNamespace + "." + keySource)
		if err != nil {
			return d.WrapErr(err)
		}
		c.keys = mod.New().(cf.Unmarshaler)
	}
	return c.keys.UnmarshalCaddyfile(d.NewFromNextSegment())
}

// readKeySource passes a segment to the key source that it names.
func readKeySource(d *cf.Dispenser, c *config) error {
	name, err := readModuleName(d, "keys", keysNamespace)
	if err != nil {
		return err
	}
	if name == keySource {
		return d.Errf("write keys of the configuration as key <name> ..., not as keys %s", keySource)
	}
	return c.addKeySource(d, name)
}

// readKeysFile passes a segment to the key source for files.
func readKeysFile(d *cf.Dispenser, c *config) error { return c.addKeySource(d, keysFile) }

func (c *config) addKeySource(d *cf.Dispenser, name string) error {
	source, err := cf.UnmarshalModule(d, keysNamespace+"."+name)
	if err != nil {
		return err
	}
	c.gateway.KeySourcesRaw = append(c.gateway.KeySourcesRaw, caddyconfig.JSONModuleObject(source, "source", name, nil))
	return nil
}

// readStore passes a segment to the store that it names.
func readStore(d *cf.Dispenser, c *config) (err error) {
	c.gateway.StoreRaw, err = readKind(d, "store", storesNamespace, "store")
	return err
}

// readCounters passes a segment to the counters that it names.
func readCounters(d *cf.Dispenser, c *config) (err error) {
	c.gateway.CountersRaw, err = readKind(d, "counters", countersNamespace, "counters")
	return err
}

// readKind passes a segment to the module of the namespace whose name follows the word. It
// returns the configuration of the module, with its name as the member key.
func readKind(d *cf.Dispenser, word, namespace, key string) (json.RawMessage, error) {
	name, err := readModuleName(d, word, namespace)
	if err != nil {
		return nil, err
	}
	mod, err := cf.UnmarshalModule(d, namespace+"."+name)
	if err != nil {
		return nil, err
	}
	return caddyconfig.JSONModuleObject(mod, key, name, nil), nil
}

// readAccounts passes the block to the module ai_gateway.accounts. Syntax:
//
//	accounts off | { ... }
func readAccounts(d *cf.Dispenser, c *config) error {
	if d.NextArg() {
		if d.Val() != "off" || d.NextArg() || d.NextBlock(d.Nesting()) {
			return d.Err("accounts is either off or has a block")
		}
		c.gateway.DisableAccounts = true
		return nil
	}
	accounts, err := cf.UnmarshalModule(d, accountsModule)
	if err != nil {
		return err
	}
	c.gateway.AccountsRaw = caddyconfig.JSON(accounts, nil)
	return nil
}

// readModuleName reads the name of a module of the namespace, which follows a word. Its
// error does not repeat an unknown name, which may be an address with a password.
func readModuleName(d *cf.Dispenser, word, namespace string) (string, error) {
	known, name := moduleNames(namespace), ""
	if d.NextArg() {
		name = d.Val()
	}
	if !slices.Contains(known, name) {
		return "", d.Errf("%s needs the name of a module; %sknown are: %s", word, suggest.DidYouMean(name, known), strings.Join(known, ", "))
	}
	return name, nil
}

// moduleNames returns the names of the modules of a namespace, sorted.
func moduleNames(namespace string) []string {
	var names []string
	for _, info := range caddy.GetModules(namespace) {
		names = append(names, info.ID.Name())
	}
	slices.Sort(names)
	return names
}

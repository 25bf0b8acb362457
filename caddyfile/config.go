package caddyfile

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

// config is a gateway.Config while it is read.
type config struct {
	gateway.Config
	keys cf.Unmarshaler // the key source of the configuration, nil without keys
}

// keySource is the key source that the words "key" are given to.
const keySource = "config"

var configWords = words[*config]{
	"provider": {read: readProvider, repeat: true},
	"model":    {read: readModel, repeat: true},
	"key":      {read: readKey, repeat: true},
	"keys":     {read: readKeySource, repeat: true},
	"max_body": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.MaxBody, err = readSize(d)
		return err
	}},
	"commit_after": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.CommitAfter, err = readDurationOrOff(d)
		return err
	}},
	"keep_alive": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.KeepAlive, err = readDurationOrOff(d)
		return err
	}},
}

// parseConfig reads what the directive and the global option have in common.
// Syntax:
//
//	ai_gateway {
//		provider <name> [<preset>] [<api_key>] { ... }
//		model    <pattern> { ... }
//		key      <name> <secret reference> | sha256:<digest> { ... }
//		keys     <module> ...
//		max_body <size>
//		commit_after <duration> | off
//		keep_alive   <duration> | off
//	}
//
// See readProvider and readModel; a key is read by the module
// ai_gateway.keys.config, and what stands behind "keys <module>" by that module
// of the namespace ai_gateway.keys.
func parseConfig(d *cf.Dispenser) (gateway.Config, error) {
	var c config
	d.Next() // the directive's name
	if d.NextArg() {
		return c.Config, d.Errf("%s takes a matcher (/path*, @name or *) and a block, nothing else", directive)
	}
	if err := configWords.readBlock(d, directive, &c, nil); err != nil {
		return c.Config, err
	}
	if c.keys != nil {
		c.KeySourcesRaw = append(c.KeySourcesRaw, caddyconfig.JSONModuleObject(c.keys, "source", keySource, nil))
	}
	return c.Config, nil
}

// readKey hands a key on to the key source of the configuration, which knows
// the syntax.
func readKey(d *cf.Dispenser, c *config) error {
	if c.keys == nil {
		mod, err := caddy.GetModule("ai_gateway.keys." + keySource)
		if err != nil {
			return d.WrapErr(err)
		}
		c.keys = mod.New().(cf.Unmarshaler)
	}
	return c.keys.UnmarshalCaddyfile(d.NewFromNextSegment())
}

// readKeySource hands a line, with its block, to the key source that it names.
func readKeySource(d *cf.Dispenser, c *config) error {
	if !d.NextArg() {
		return d.Err("keys needs the name of a key source: a module of the namespace ai_gateway.keys")
	}
	name := d.Val()
	if name == keySource {
		return d.Errf("a key of the configuration is written: key <name> ..., not: keys %s", keySource)
	}
	source, err := cf.UnmarshalModule(d, "ai_gateway.keys."+name)
	if err != nil {
		return err
	}
	c.KeySourcesRaw = append(c.KeySourcesRaw, caddyconfig.JSONModuleObject(source, "source", name, nil))
	return nil
}

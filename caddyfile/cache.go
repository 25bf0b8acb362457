package caddyfile

import (
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/cache"
)

var modelCacheWords = words[*cache.Rule]{
	"scope": {read: func(d *cf.Dispenser, r *cache.Rule) error {
		scope, err := readOne(d)
		if err != nil {
			return err
		}
		r.Scope = cache.Scope(scope)
		if err := r.Validate(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}},
	"keys": {read: func(d *cf.Dispenser, r *cache.Rule) error { return readScope(d, &r.Keys) }},
	"any_temperature": {read: func(d *cf.Dispenser, r *cache.Rule) error {
		r.AnyTemperature = true
		return readOther(d, "off", "on")
	}},
	"tool_calls": {read: func(d *cf.Dispenser, r *cache.Rule) error {
		r.ToolCalls = true
		return readOther(d, "off", "on")
	}},
}

// readModelCache reads for how long, for whom and for which requests a model has a cache of
// answers. Syntax:
//
//	cache [<duration>] {
//		scope key | user | all
//		keys <pattern...>
//		any_temperature on
//		tool_calls on
//	}
func readModelCache(d *cf.Dispenser, m *model) error {
	m.Cache = new(cache.Rule)
	if d.NextArg() {
		ttl, err := caddy.ParseDuration(d.Val())
		if err != nil || ttl <= 0 {
			return d.Errf("cache needs a duration above zero, such as 1h, not '%s'", d.Val())
		}
		m.Cache.TTL = caddy.Duration(ttl)
	}
	return modelCacheWords.readBlock(d, "cache", m.Cache, nil)
}

var cacheWords = words[*cache.Options]{
	"max": {read: func(d *cf.Dispenser, o *cache.Options) (err error) {
		o.Max, err = readSize(d)
		return err
	}},
	"entry": {read: func(d *cf.Dispenser, o *cache.Options) (err error) {
		o.Entry, err = readSize(d)
		return err
	}},
	"in": {read: func(d *cf.Dispenser, o *cache.Options) (err error) {
		o.InRaw, err = readKind(d, "in", cachesNamespace, "cache")
		return err
	}},
}

// readCache reads where answers are kept, and how many. A guest module reads the block of in. Syntax:
//
//	cache {
//		max   <size>
//		entry <size>
//		in    <module> ...
//	}
func readCache(d *cf.Dispenser, c *config) error {
	c.gateway.Cache = new(cache.Options)
	return cacheWords.readBlock(d, "cache", c.gateway.Cache, nil)
}

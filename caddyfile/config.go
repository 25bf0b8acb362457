package caddyfile

import (
	"errors"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/written"
)

// config is a gateway.Config that is being read.
type config struct {
	gateway gateway.Config // what was read so far
	keys    cf.Unmarshaler // the key source of the configuration, nil without keys

	inherited gateway.Config // of the global option, for a site
	targets   []target
	limits    map[*limits.Limit]cf.Dispenser // the places of the limits
	passes    []cf.Dispenser                 // the places of Pass
	sockets   cf.Dispenser                   // the place of Sockets
}

// target is a mention of a provider in the block of a model.
type target struct {
	model, provider string
	place           cf.Dispenser
}

// checkClaims returns an error if two providers or models claim the same names. Those of the
// global option count. It is called after each provider and model, so that its error belongs
// to the last one.
func (c *config) checkClaims() error {
	providers := slices.Concat(c.inherited.Providers, c.gateway.Providers)
	return catalog.CheckClaims(providers, slices.Concat(c.inherited.Models, c.gateway.Models))
}

// providerNames returns the names of the providers, those of the global option included.
func (c *config) providerNames() (names []string) {
	for _, p := range slices.Concat(c.inherited.Providers, c.gateway.Providers) {
		names = append(names, p.Name)
	}
	return names
}

// checkTargets returns an error for a target whose provider is not defined.
func (c *config) checkTargets() error {
	known := c.providerNames()
	for _, t := range c.targets {
		if !slices.Contains(known, t.provider) {
			return t.place.Errf("model '%s': %w", t.model, catalog.UnknownProvider(t.provider, known))
		}
	}
	return nil
}

// checkLimits returns an error for a limit that is within one which is not defined.
func (c *config) checkLimits() error {
	var known []string
	for _, limit := range slices.Concat(c.inherited.KeyLimits, c.gateway.KeyLimits) {
		known = append(known, limit.Name)
	}
	for _, limit := range c.gateway.KeyLimits {
		if limit.Parent != "" && !slices.Contains(known, limit.Parent) {
			place := c.limits[limit]
			return place.Errf("limit '%s': %w", limit.Name, limits.UndefinedWithin(limit.Parent, known))
		}
	}
	return nil
}

var configWords = withAnswerBounds(words[*config]{
	"provider": {read: readProvider, repeat: true},
	"model":    {read: readModel, repeat: true},
	"key":      {read: readKey, repeat: true},
	"keys":     {read: readKeySource, repeat: true},
	"catalog": {read: func(d *cf.Dispenser, c *config) (err error) {
		if c.gateway.CatalogFile, err = readOne(d); err == nil && catalog.CheckFile(c.gateway.CatalogFile) != nil {
			err = d.Errf("catalog: %w", catalog.CheckFile(c.gateway.CatalogFile))
		}
		return err
	}},
	"keys_file":   {read: readKeysFile, repeat: true},
	"limit":       {read: readKeyLimit, repeat: true},
	"guard":       {read: readGuard, repeat: true},
	"pass":        {read: readPass, repeat: true},
	"mcp":         {read: readMCP, repeat: true},
	"sockets":     {read: readSockets},
	"log_content": {read: readLogContent},
	"counters":    {read: readCounters},
	"store":       {read: readStore},
	"ledger":      {read: readLedger},
	"accounts":    {read: readAccounts},
	"cache":       {read: readCache},
	"cors":        {read: readCORS},
	"seal_keys": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.SealKeys, err = readReferences(d)
		return err
	}},
	"max_body": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.MaxBody, err = readSize(d)
		return err
	}},
	"max_batch": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.MaxBatch, err = readSize(d)
		return err
	}},
	"max_upload": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.MaxUpload, err = readSize(d)
		return err
	}},
	"public_url": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.PublicURL, err = readOne(d)
		return err
	}},
	"commit_after": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.CommitAfter, err = readDurationOrOff(d)
		return err
	}},
	"keep_alive": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.KeepAlive, err = readDurationOrOff(d)
		return err
	}},
	"deadline": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.Deadline, err = readDuration(d)
		return err
	}},
	"retry": {read: func(d *cf.Dispenser, c *config) error {
		c.gateway.DisableRetry = true
		return readOther(d, "on", "off")
	}},
	"cooldown": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.Cooldown, err = readDurationOrOff(d)
		return err
	}},
	"fail_rate": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.FailRate, err = readPercentOrOff(d)
		return err
	}},
	"target_header": {read: func(d *cf.Dispenser, c *config) error {
		c.gateway.TargetHeader = true
		return readOther(d, "off", "on")
	}},
	"queue": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.Queue, err = readQueue(d)
		return err
	}},
	"max_running": {read: func(d *cf.Dispenser, c *config) (err error) {
		c.gateway.MaxRunning, err = readCount(d)
		return err
	}},
	"affinity": {read: readAffinity},
	"tags":     {read: readTags},
	"customer": {read: readCustomer},
}, func(c *config) *aigateway.AnswerBounds { return &c.gateway.AnswerBounds })

// parseConfig reads the directive or the global option. Syntax:
//
//	ai_gateway {
//		provider <name> [<preset>] [<api_key>...] { ... }
//		model    <pattern> { ... }
//		key      <name> <secret reference> | sha256:<digest> { ... }
//		keys     <module> ...
//		keys_file <path>
//		limit    <name> { ... }
//		guard    <name> <module> { ... }
//		pass     <prefix> <provider> { ... }
//		mcp      <name> { ... }
//		log_content { ... }
//		counters <module> ...
//		store    <module> ...
//		catalog <path>
//		ledger   { ... } | off
//		accounts off | { ... }
//		cache    { ... }
//		cors     <origin...> | *
//		seal_keys <secret reference...>
//		max_body <size>
//		max_batch <size>
//		max_upload <size>
//		public_url <address>
//		commit_after <duration> | off
//		keep_alive   <duration> | off
//		deadline     <duration>
//		retry        off
//		cooldown     <duration> | off
//		fail_rate    <percentage> | off
//		target_header on
//		max_running  <number>
//		queue        <number> [<duration>]
//		affinity     <source...> | off
//		tags         <name...>
//		customer     <source...>
//		<default bounds of answers: see withAnswerBounds>
//	}
//
// See readProvider, readModel, readKeyLimit, readGuard, readPass, readMCP, readCache and readLedger for their blocks. Guest
// modules read the words key (ai_gateway.keys.config), keys_file (ai_gateway.keys.file), accounts
// (ai_gateway.accounts), and keys, store, counters and in of cache (the named module of the
// namespace ai_gateway.keys, ai_gateway.stores, ai_gateway.counters or ai_gateway.caches).
//
// inherited is the configuration of the global option, for a site. lines are those that d reads.
func parseConfig(d *cf.Dispenser, inherited gateway.Config, lines []written.Line) (gateway.Config, error) {
	c := config{inherited: inherited, limits: make(map[*limits.Limit]cf.Dispenser)}
	d.Next() // the directive's name
	if d.NextArg() {
		return c.gateway, d.Errf("%s accepts only a matcher (/path*, @name or *) and a block", directive)
	}
	if err := configWords.readBlock(d, directive, &c, nil); err != nil {
		return c.gateway, err
	}
	if err := errors.Join(c.checkTargets(), c.checkLimits(), c.checkPasses(), c.checkSockets()); err != nil {
		return c.gateway, err
	}
	if c.keys != nil {
		own := caddyconfig.JSONModuleObject(c.keys, "source", keySource, nil)
		c.gateway.KeySourcesRaw = slices.Insert(c.gateway.KeySourcesRaw, 0, own)
	}
	c.gateway.Written = &written.Caddyfile{Digest: c.gateway.Digest(), Lines: lines}
	return c.gateway, nil
}

package caddyfile

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/guardrails"
)

const guardsNamespace = "ai_gateway.guards"

var guardWords = words[*guardrails.Config]{
	"on": {read: func(d *cf.Dispenser, g *guardrails.Config) (err error) {
		g.Parts, err = readList(d, nil)
		return err
	}},
	"check": {read: func(d *cf.Dispenser, g *guardrails.Config) error {
		kinds, err := readList(d, nil)
		for _, kind := range kinds {
			g.Check = append(g.Check, aigateway.GuardKind(kind))
		}
		return err
	}},
	"models": {read: func(d *cf.Dispenser, g *guardrails.Config) error { return readScope(d, &g.Models) }},
	"keys":   {read: func(d *cf.Dispenser, g *guardrails.Config) error { return readScope(d, &g.Keys) }},
	"allow_references": {read: func(d *cf.Dispenser, g *guardrails.Config) error {
		g.AllowReferences = true
		return readOther(d, "off", "on")
	}},
}

// readScope reads the patterns of names to which a block applies.
func readScope(d *cf.Dispenser, patterns *[]aigateway.Pattern) error {
	list, err := readPatterns(d, nil)
	for _, pattern := range list {
		*patterns = append(*patterns, aigateway.Pattern(pattern))
	}
	return err
}

// readGuard reads a guard. Syntax:
//
//	guard <name> <module> {
//		on               request | answer
//		check            <kind of text...>
//		models           <pattern...>
//		keys             <pattern...>
//		allow_references on
//		<words of the module>
//	}
//
// The module of the namespace ai_gateway.guards reads its words, one after the other.
func readGuard(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	args, known := d.RemainingArgs(), moduleNames(guardsNamespace)
	if len(args) != 2 {
		return d.Err("a guard is: guard <name> <module> { ... }")
	}
	if !slices.Contains(known, args[1]) {
		return d.Errf("there is no guard '%s'; %sknown are: %s", args[1], suggest.DidYouMean(args[1], known), strings.Join(known, ", "))
	}
	info, err := caddy.GetModule(guardsNamespace + "." + args[1])
	if err != nil {
		return d.WrapErr(err)
	}
	mod, ok := info.New().(cf.Unmarshaler)
	if !ok {
		return d.Errf("the guard '%s' cannot be written in a Caddyfile", args[1])
	}
	g, own := &guardrails.Config{Name: args[0]}, []cf.Token(nil)
	err = guardWords.readBlock(d, "guard", g, func(d *cf.Dispenser) error {
		if worded, ok := mod.(interface{ Words() []string }); ok && !slices.Contains(worded.Words(), d.Val()) {
			return d.Err(suggest.Unrecognized("guard", d.Val(), slices.Sorted(slices.Values(append(guardWords.names(), worded.Words()...)))))
		}
		own = append(own, d.NextSegment()...)
		return nil
	})
	if err != nil {
		return err
	}
	if err := mod.UnmarshalCaddyfile(cf.NewDispenser(own)); err != nil {
		return err
	}
	g.GuardRaw = caddyconfig.JSONModuleObject(mod, "guard", args[1], nil)
	if err := g.Validate(); err != nil {
		return line.WrapErr(err)
	}
	c.gateway.Guards = append(c.gateway.Guards, g)
	return nil
}

var logWords = words[*guardrails.LogConfig]{
	"models": {read: func(d *cf.Dispenser, l *guardrails.LogConfig) error { return readScope(d, &l.Models) }},
	"keys":   {read: func(d *cf.Dispenser, l *guardrails.LogConfig) error { return readScope(d, &l.Keys) }},
	"max_size": {read: func(d *cf.Dispenser, l *guardrails.LogConfig) (err error) {
		l.MaxSize, err = readSize(d)
		return err
	}},
	"to": {read: func(d *cf.Dispenser, l *guardrails.LogConfig) (err error) {
		l.Places, err = readList(d, nil)
		return err
	}},
	"redact": {read: func(d *cf.Dispenser, l *guardrails.LogConfig) (err error) {
		l.Redact, err = readList(d, nil)
		return err
	}},
}

// readLogContent reads which texts are logged. Syntax:
//
//	log_content {
//		models   <pattern...>
//		keys     <pattern...>
//		max_size <size>
//		redact   <guard...>
//		to       log|traces...
//	}
func readLogContent(d *cf.Dispenser, c *config) error {
	if d.NextArg() {
		return d.Err("log_content has only a block")
	}
	c.gateway.LogContent = new(guardrails.LogConfig)
	return logWords.readBlock(d, "log_content", c.gateway.LogContent, nil)
}

package caddyfile

import (
	"slices"
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/pass"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/routing/catalog"
)

var passWords = words[*pass.Config]{
	"allow": {repeat: true, read: func(d *cf.Dispenser, p *pass.Config) error { return readPassRule(d, &p.Allow) }},
	"deny":  {repeat: true, read: func(d *cf.Dispenser, p *pass.Config) error { return readPassRule(d, &p.Deny) }},
	"unpriced": {read: func(d *cf.Dispenser, p *pass.Config) error {
		p.AllowUnpriced = true
		return readOther(d, "refuse", "allow")
	}},
	"admin": {read: func(d *cf.Dispenser, p *pass.Config) error {
		p.AllowAdmin = true
		return readOther(d, "refuse", "allow")
	}},
	"headers": {read: func(d *cf.Dispenser, p *pass.Config) (err error) {
		p.Headers, err = readList(d, nil)
		return err
	}},
	"ids": {read: func(d *cf.Dispenser, p *pass.Config) (err error) {
		p.IDs, err = readOne(d)
		return err
	}},
	"max_body": {read: func(d *cf.Dispenser, p *pass.Config) (err error) {
		p.MaxBody, err = readSize(d)
		return err
	}},
}

// readPass reads which endpoints of a provider are passed on as they are. Syntax:
//
//	pass <prefix> <provider> {
//		allow    [<method...>] <path...>
//		deny     [<method...>] <path...>
//		unpriced allow
//		admin    allow
//		headers  <name...>
//		ids      off | sealed | passthrough
//		max_body <size>
//	}
func readPass(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	args := d.RemainingArgs()
	if len(args) != 2 {
		return d.Err("a line pass is: pass <prefix> <provider> { ... }, such as pass /pass/openai/* openai { ... }")
	}
	p := &pass.Config{Prefix: args[0], Provider: args[1]}
	if err := passWords.readBlock(d, "pass", p, nil); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return line.Errf("pass '%s': %w", p.Prefix, err)
	}
	c.gateway.Pass = append(c.gateway.Pass, p)
	c.passes = append(c.passes, line)
	return nil
}

// readPassRule reads methods, which begin with no slash, and paths.
func readPassRule(d *cf.Dispenser, rules *[]pass.Rule) error {
	list, err := readList(d, nil)
	if err != nil {
		return err
	}
	first := slices.IndexFunc(list, func(arg string) bool { return strings.HasPrefix(arg, "/") })
	if first < 0 {
		first = len(list)
	}
	rule := pass.Rule{Methods: list[:first:first], Paths: list[first:]}
	if first == 0 {
		rule.Methods = nil
	}
	*rules = append(*rules, rule)
	return nil
}

// checkPasses returns an error for a line pass whose provider is not defined.
func (c *config) checkPasses() error {
	known := c.providerNames()
	for i, p := range c.gateway.Pass {
		if !slices.Contains(known, p.Provider) {
			return c.passes[i].Errf("pass '%s': %w", p.Prefix, catalog.UnknownProvider(p.Provider, known))
		}
	}
	return nil
}

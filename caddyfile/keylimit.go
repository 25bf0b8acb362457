package caddyfile

import (
	"slices"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway"
)

var keyLimitWords = words[*gateway.KeyLimit]{
	"requests": {read: func(d *cf.Dispenser, l *gateway.KeyLimit) (err error) {
		l.Requests, err = readRate(d)
		return err
	}},
	"tokens": {read: func(d *cf.Dispenser, l *gateway.KeyLimit) (err error) {
		l.Tokens, err = readRate(d)
		return err
	}},
	"concurrent": {read: func(d *cf.Dispenser, l *gateway.KeyLimit) error {
		n, err := readCount(d)
		l.Concurrent = int64(n)
		return err
	}},
}

// readKeyLimit reads a limit, which keys refer to by its name. Syntax:
//
//	limit <name> {
//		requests   <number>/<duration>
//		tokens     <number>/<duration>
//		concurrent <number>
//	}
//
// At least one of the rules is required.
func readKeyLimit(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	name, err := readOne(d)
	if err != nil {
		return err
	}
	if err := aigateway.CheckLimitName(name); err != nil {
		return d.WrapErr(err)
	}
	if slices.ContainsFunc(c.KeyLimits, func(l *gateway.KeyLimit) bool { return l.Name == name }) {
		return d.Errf("limit '%s' is defined twice", name)
	}
	limit := &gateway.KeyLimit{Name: name}
	if err := keyLimitWords.readBlock(d, "limit", limit, nil); err != nil {
		return err
	}
	if err := limit.Check(); err != nil {
		return line.WrapErr(err)
	}
	c.KeyLimits = append(c.KeyLimits, limit)
	return nil
}

// readRate returns a rate such as 60/1m.
func readRate(d *cf.Dispenser) (aigateway.Rate, error) {
	name := d.Val()
	text, err := readOne(d)
	if err != nil {
		return aigateway.Rate{}, err
	}
	rate, err := aigateway.ParseRate(text)
	if err != nil {
		return rate, d.Errf("%s: %w", name, err)
	}
	return rate, nil
}

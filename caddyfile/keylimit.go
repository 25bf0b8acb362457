package caddyfile

import (
	"slices"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
)

var keyLimitWords = words[*limits.Limit]{
	"per": {read: func(d *cf.Dispenser, l *limits.Limit) error {
		args := d.RemainingArgs()
		switch {
		case len(args) == 1 && args[0] != "tag":
			l.Per = aigateway.Scope(args[0])
		case len(args) == 2 && args[0] == "tag":
			l.Per = aigateway.PerTag(args[1])
		default:
			return d.Err("per needs exactly one value, or tag and the name of a tag")
		}
		return nil
	}},
	"within": {read: func(d *cf.Dispenser, l *limits.Limit) (err error) {
		l.Within, err = readOne(d)
		return err
	}},
	"requests": {read: func(d *cf.Dispenser, l *limits.Limit) (err error) {
		l.Requests, err = readRate(d)
		return err
	}},
	"tokens": {read: func(d *cf.Dispenser, l *limits.Limit) (err error) {
		l.Tokens, err = readRate(d)
		return err
	}},
	"concurrent": {read: func(d *cf.Dispenser, l *limits.Limit) error {
		n, err := readCount(d)
		l.Concurrent = int64(n)
		return err
	}},
	"budget":   {read: readBudget},
	"unpriced": {read: readUnpriced},
}

// readKeyLimit reads a limit, which keys refer to by its name. Syntax:
//
//	limit <name> {
//		per        key | user | group | gateway | customer | tag <name>
//		within     <name>
//		requests   <number>/<duration>
//		tokens     <number>/<duration>
//		concurrent <number>
//		budget     <amount>/<duration>|day|week|month|total [<currency>] [soft]
//		unpriced   allow
//	}
//
// At least one of the rules is required: requests, tokens, concurrent and budget.
func readKeyLimit(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	name, err := readOne(d)
	if err != nil {
		return err
	}
	if err := aigateway.CheckLimitName(name); err != nil {
		return d.WrapErr(err)
	}
	if slices.ContainsFunc(c.KeyLimits, func(l *limits.Limit) bool { return l.Name == name }) {
		return d.Errf("limit '%s' is defined twice", name)
	}
	limit := &limits.Limit{Limit: aigateway.Limit{Name: name}}
	if err := keyLimitWords.readBlock(d, "limit", limit, nil); err != nil {
		return err
	}
	if err := limit.Check(); err != nil {
		return line.WrapErr(err)
	}
	c.KeyLimits, c.limits[limit] = append(c.KeyLimits, limit), line
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
		return rate, d.Errf("%s: %w, not '%s'", name, err, text)
	}
	return rate, nil
}

// readBudget reads a budget, such as 50/month EUR soft.
func readBudget(d *cf.Dispenser, l *limits.Limit) (err error) {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.ArgErr()
	}
	if l.Budget, err = aigateway.ParseBudget(args...); err != nil {
		return d.Errf("budget: %w", err)
	}
	return nil
}

// readUnpriced reads the only value of unpriced, allow.
func readUnpriced(d *cf.Dispenser, l *limits.Limit) error {
	word, err := readOne(d)
	if err == nil && word != "allow" {
		return d.Err("unpriced can only be allow: without it, a budget refuses models whose price is unknown")
	}
	l.AllowUnpriced = true
	return err
}

package caddyfile

import (
	"slices"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/limits"
)

var keyLimitWords = withRules(words[*limits.Limit]{
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
	"models": {read: func(d *cf.Dispenser, l *limits.Limit) error {
		list, err := readPatterns(d, nil)
		for _, pattern := range list {
			l.Models = append(l.Models, aigateway.Pattern(pattern))
		}
		return err
	}},
	"priority": {read: func(d *cf.Dispenser, l *limits.Limit) (err error) {
		if l.Priority, err = readOne(d); err != nil {
			return err
		}
		if err := (aigateway.LimitRules{Priority: l.Priority}).Check(); err != nil {
			return d.WrapErr(err)
		}
		return nil
	}},
	"sockets": {read: func(d *cf.Dispenser, l *limits.Limit) (err error) {
		l.Sockets, err = readCount(d)
		return err
	}},
	"within": {read: func(d *cf.Dispenser, l *limits.Limit) (err error) {
		l.Parent, err = readOne(d)
		return err
	}},
}, func(l *limits.Limit) *aigateway.LimitRules { return &l.LimitRules })

// withRules adds the words of the rules of limits, which are read into a field.
func withRules[T any](own words[T], field func(T) *aigateway.LimitRules) words[T] {
	own["requests"] = word[T]{read: func(d *cf.Dispenser, target T) (err error) {
		field(target).Requests, err = readRate(d)
		return err
	}}
	own["tokens"] = word[T]{read: func(d *cf.Dispenser, target T) (err error) {
		field(target).Tokens, err = readRate(d)
		return err
	}}
	own["concurrent"] = word[T]{read: func(d *cf.Dispenser, target T) error {
		n, err := readCount(d)
		field(target).Concurrent = int64(n)
		return err
	}}
	own["budget"] = word[T]{read: func(d *cf.Dispenser, target T) error { return readBudget(d, field(target)) }}
	own["unpriced"] = word[T]{read: func(d *cf.Dispenser, target T) error { return readUnpriced(d, field(target)) }}
	return own
}

// callLimitWords are the words of the limit of a provider or a target.
var callLimitWords = withRules(words[*aigateway.LimitRules]{}, func(r *aigateway.LimitRules) *aigateway.LimitRules { return r })

// readCallLimit reads the limit of a provider or a target, which has no name. Syntax:
//
//	limit {
//		requests   <number>/<duration>
//		tokens     <number>/<duration>
//		concurrent <number>
//		budget     <amount>/<duration>|day|week|month|total [<currency>] [soft]
//		unpriced   allow
//	}
func readCallLimit[T any](field func(T) **aigateway.LimitRules) func(*cf.Dispenser, T) error {
	return func(d *cf.Dispenser, target T) error {
		line := *d // errors about the whole block contain its first line
		if d.NextArg() {
			return d.Err("the limit of a provider or a target has no name: its rules are in a block")
		}
		rules := new(aigateway.LimitRules)
		if err := callLimitWords.readBlock(d, "limit", rules, nil); err != nil {
			return err
		}
		if err := rules.CheckOfCalls(); err != nil {
			return line.WrapErr(err)
		}
		*field(target) = rules
		return nil
	}
}

// readKeyLimit reads a limit, which keys refer to by its name. Syntax:
//
//	limit <name> {
//		per        key | user | group | gateway | customer | tag <name>
//		within     <name>
//		models     <pattern...>
//		priority   high | normal | low
//		sockets    <number>
//		requests   <number>/<duration>
//		tokens     <number>/<duration>
//		concurrent <number>
//		budget     <amount>/<duration>|day|week|month|total [<currency>] [soft]
//		unpriced   allow
//	}
//
// At least one of these is required: requests, tokens, concurrent, budget, priority and sockets.
func readKeyLimit(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	name, err := readOne(d)
	if err != nil {
		return err
	}
	if err := aigateway.CheckLimitName(name); err != nil {
		return d.WrapErr(err)
	}
	if slices.ContainsFunc(c.gateway.KeyLimits, func(l *limits.Limit) bool { return l.Name == name }) {
		return d.Errf("limit '%s' is defined twice", name)
	}
	limit := &limits.Limit{Limit: aigateway.Limit{Name: name}}
	if err := keyLimitWords.readBlock(d, "limit", limit, nil); err != nil {
		return err
	}
	if err := limit.Check(); err != nil {
		return line.WrapErr(err)
	}
	c.gateway.KeyLimits, c.limits[limit] = append(c.gateway.KeyLimits, limit), line
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
func readBudget(d *cf.Dispenser, l *aigateway.LimitRules) (err error) {
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
func readUnpriced(d *cf.Dispenser, l *aigateway.LimitRules) error {
	word, err := readOne(d)
	if err == nil && word != "allow" {
		return d.Err("unpriced can only be allow: without it, a budget refuses models whose price is unknown")
	}
	l.AllowUnpriced = true
	return err
}

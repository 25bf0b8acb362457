package caddyfile

import (
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// withTraits adds the names of all traits to the words of a block. field returns the
// traits of the target. Syntax:
//
//	<name of a trait> <value...>
//
// Only traits that are lists have several values.
func withTraits[T any](own words[T], field func(T) *map[string]string) words[T] {
	for _, name := range trait.Names() {
		own[name] = word[T]{read: func(d *cf.Dispenser, target T) error { return readTrait(d, field(target)) }}
	}
	return own
}

// readTrait reads a trait. It also checks the value, so that the error has the line.
func readTrait(d *cf.Dispenser, traits *map[string]string) error {
	name, args := d.Val(), d.RemainingArgs()
	if len(args) == 0 {
		return d.Errf("%s needs a value", name)
	}
	value := strings.Join(args, " ")
	if err := new(trait.Traits).Set(name, value); err != nil {
		return d.WrapErr(err)
	}
	if *traits == nil {
		*traits = make(map[string]string)
	}
	(*traits)[name] = value
	return nil
}

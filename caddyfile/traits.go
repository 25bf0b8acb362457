package caddyfile

import (
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// withTraits adds to the words of a provider the names of all traits. Syntax:
//
//	<name of a trait> <value...>
//
// Only lists have several values.
func withTraits(own words[*provider]) words[*provider] {
	for _, name := range translate.TraitNames() {
		own[name] = word[*provider]{read: readTrait}
	}
	return own
}

// readTrait sets a trait as it would be set for the provider, so that a value
// that is not accepted is found where it stands.
func readTrait(d *cf.Dispenser, p *provider) error {
	name, args := d.Val(), d.RemainingArgs()
	if len(args) == 0 {
		return d.Errf("%s needs a value", name)
	}
	value := strings.Join(args, " ")
	if err := new(translate.Traits).Set(name, value); err != nil {
		return d.WrapErr(err)
	}
	if p.Traits == nil {
		p.Traits = make(map[string]string)
	}
	p.Traits[name] = value
	return nil
}

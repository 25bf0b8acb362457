package signin

import (
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway/suggest"
)

// word reads the values of a word of a block.
type word func(d *caddyfile.Dispenser, values []string) error

// UnmarshalCaddyfile reads an issuer. Syntax:
//
//	oidc <issuer> {
//		name          <name>
//		client_id     <id>
//		client_secret <reference>
//		scopes        <scope...>
//		callback      <address>
//		claim         name | display | groups <claim>
//		require       <claim> <value...>
//		role          admin | root <group...>
//		create        off | user
//		teams         off | groups
//	}
func (i *Issuer) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	if !d.Args(&i.Issuer) || d.NextArg() {
		return d.Err("oidc needs the address of one issuer")
	}
	words := i.Rules.words()
	words["name"], words["client_id"], words["callback"] = one(&i.Name), one(&i.ClientID), one(&i.Callback)
	words["client_secret"] = func(d *caddyfile.Dispenser, values []string) error {
		if len(values) != 1 {
			return d.ArgErr()
		}
		i.ClientSecret = values[0]
		return wrap(d, aigateway.CheckSecretReference(i.ClientSecret))
	}
	words["scopes"] = func(d *caddyfile.Dispenser, values []string) error {
		i.Scopes = values
		return nil
	}
	claims := map[string]*string{"name": &i.NameClaim, "display": &i.DisplayClaim, "groups": &i.GroupClaim}
	words["claim"] = func(d *caddyfile.Dispenser, values []string) error {
		if len(values) != 2 || claims[values[0]] == nil {
			return d.Err("claim needs name, display or groups, and a claim")
		}
		*claims[values[0]] = values[1]
		return nil
	}
	if err := readBlock(d, "oidc", words); err != nil {
		return err
	}
	return wrap(d, i.check())
}

// UnmarshalCaddyfile reads a proxy. Syntax:
//
//	proxy <placeholder> {
//		name    <name>
//		display <placeholder>
//		groups  <placeholder>
//		require groups <group...>
//		role    admin | root <group...>
//		create  off | user
//		teams   off | groups
//	}
func (p *Proxy) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	if !d.Args(&p.User) || d.NextArg() {
		return d.Err("proxy needs one placeholder")
	}
	words := p.Rules.words()
	words["name"], words["display"], words["groups"] = one(&p.Name), one(&p.Display), one(&p.Groups)
	if err := readBlock(d, "proxy", words); err != nil {
		return err
	}
	return wrap(d, p.check())
}

// words returns the words of the rules.
func (r *Rules) words() map[string]word {
	return map[string]word{
		"create":  one(&r.Create),
		"teams":   one(&r.Teams),
		"require": listed(&r.Require, errRequire),
		"role":    listed(&r.Roles, errRole),
	}
}

// one returns a word with one value.
func one(dst *string) word {
	return func(d *caddyfile.Dispenser, values []string) error {
		if len(values) != 1 {
			return d.ArgErr()
		}
		*dst = values[0]
		return nil
	}
}

// listed returns a word whose first value is the name of a list.
func listed(dst *map[string][]string, missing error) word {
	return func(d *caddyfile.Dispenser, values []string) error {
		if len(values) < 2 {
			return d.WrapErr(missing)
		}
		if *dst == nil {
			*dst = make(map[string][]string)
		}
		(*dst)[values[0]] = append((*dst)[values[0]], values[1:]...)
		return nil
	}
}

// repeatable are the words that may be given several times.
var repeatable = []string{"claim", "require", "role"}

// readBlock reads a block of words.
func readBlock(d *caddyfile.Dispenser, block string, words map[string]word) error {
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		read, known := words[name]
		switch {
		case !known:
			return d.Err(suggest.Unrecognized(block, name, slices.Sorted(maps.Keys(words))))
		case seen[name] && !slices.Contains(repeatable, name):
			return d.Errf("%s is given twice", name)
		}
		seen[name] = true
		if err := read(d, d.RemainingArgs()); err != nil {
			return err
		}
	}
	return nil
}

// wrap returns an error with its place in the Caddyfile.
func wrap(d *caddyfile.Dispenser, err error) error {
	if err == nil {
		return nil
	}
	return d.WrapErr(err)
}

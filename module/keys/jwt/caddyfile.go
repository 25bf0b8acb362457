package jwt

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// UnmarshalCaddyfile sets up the source from Caddyfile tokens:
//
//	keys jwt {
//		issuer      <address>
//		audience    <text...>
//		jwks        <address | absolute path>
//		claim name  <claim>
//		claim owner <claim>
//		claim groups <claim>
//		group <name> {
//			models <pattern...>
//			limit  <name>
//		}
//	}
func (t *Tokens) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // jwt
	if d.NextArg() {
		return d.ArgErr()
	}
	claims := map[string]*string{"name": &t.Name, "owner": &t.Owner, "groups": &t.GroupClaim}
	words := map[string]*string{"issuer": &t.Issuer, "jwks": &t.JWKS}
	for d.NextBlock(0) {
		word := d.Val()
		dst := words[word]
		switch word {
		case "claim":
			if !d.NextArg() {
				return d.ArgErr()
			}
			if dst = claims[d.Val()]; dst == nil {
				return d.Errf("claim %s: must be name, owner or groups", d.Val())
			}
		case "audience":
			if t.Audience != "" {
				return d.Errf("%s is set twice", word)
			}
			if !d.Args(&t.Audience) {
				return d.ArgErr()
			}
			t.Audiences = d.RemainingArgs()
			continue
		case "group":
			if err := t.addGroup(d); err != nil {
				return err
			}
			continue
		}
		switch {
		case dst == nil:
			return d.Errf("unknown word %s: issuer, audience, jwks, claim or group", word)
		case *dst != "":
			return d.Errf("%s is set twice", word)
		case !d.Args(dst) || d.NextArg():
			return d.ArgErr()
		}
	}
	if err := t.check(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// addGroup reads a group.
func (t *Tokens) addGroup(d *caddyfile.Dispenser) error {
	var g Group
	if !d.Args(&g.Name) || d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch word := d.Val(); {
		case word == "models" && g.Models == nil:
			if g.Models = aigateway.SplitList(d.RemainingArgs()); len(g.Models) == 0 {
				return d.ArgErr()
			}
		case word == "mcp" && g.MCP == nil:
			if g.MCP = aigateway.SplitList(d.RemainingArgs()); len(g.MCP) == 0 {
				return d.ArgErr()
			}
		case word == "limit" && g.Limit == "":
			if !d.Args(&g.Limit) || d.NextArg() {
				return d.ArgErr()
			}
		case word == "models" || word == "mcp" || word == "limit":
			return d.Errf("%s is set twice", word)
		default:
			return d.Errf("unknown word %s: models, mcp or limit", word)
		}
	}
	t.Groups = append(t.Groups, g)
	return nil
}

var (
	_ caddy.Provisioner      = (*Tokens)(nil)
	_ caddyfile.Unmarshaler  = (*Tokens)(nil)
	_ aigateway.IssuedSource = (*Tokens)(nil)
)

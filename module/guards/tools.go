package guards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

func init() { caddy.RegisterModule(Tools{}) }

// Tools is the guard ai_gateway.guards.tools. It blocks requests with tools, and requests and
// answers with calls of tools, by the names of the tools. A tool that a vendor
// defines has the name of its type, such as web_search_20250305, and that of its calls.
type Tools struct {
	// Allow are the names and patterns of the tools that are allowed. Default: all.
	Allow []aigateway.Pattern `json:"allow,omitempty"`
	// Deny are the names and patterns of the tools that are not allowed. They take precedence.
	Deny []aigateway.Pattern `json:"deny,omitempty"`
	// MCPURLs are the addresses of the MCP servers that a request may let a vendor call, with patterns, and
	// the names of the vendor's own connectors. Default: all.
	MCPURLs []aigateway.Pattern `json:"mcp_urls,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (Tools) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "ai_gateway.guards.tools", New: func() caddy.Module { return new(Tools) }}
}

// The rules of Tools.
const (
	ruleAllow   = "allow"
	ruleDeny    = "deny"
	ruleMCPURLs = "mcp_urls"
)

// Validate returns an error for a guard without names, and for invalid patterns.
func (g *Tools) Validate() error {
	if len(g.Allow)+len(g.Deny)+len(g.MCPURLs) == 0 {
		return errors.New("a guard tools needs names: allow, deny or mcp_urls lists them")
	}
	for _, p := range slices.Concat(g.Allow, g.Deny, g.MCPURLs) {
		if _, err := aigateway.ParsePattern(string(p)); err != nil {
			return fmt.Errorf("the pattern '%s' of a guard tools: %w", p, err)
		}
	}
	return nil
}

// Window implements aigateway.StreamGuard: names come as a whole.
func (*Tools) Window() (w aigateway.GuardWindow, err error) { return w, nil }

// Check implements aigateway.Guard.
func (g *Tools) Check(_ context.Context, v *aigateway.GuardView) (verdict aigateway.GuardVerdict, _ error) {
	if v.Phase == aigateway.GuardLog {
		return verdict, nil
	}
	for i := range v.Texts {
		t := &v.Texts[i]
		matches := func(p aigateway.Pattern) bool { return p.Match(t.Name) }
		switch {
		case t.Kind == aigateway.GuardServer:
			if len(g.MCPURLs) > 0 && !slices.ContainsFunc(g.MCPURLs, matches) {
				verdict.Block = ruleMCPURLs
			}
		case t.Kind != aigateway.GuardTool && t.Kind != aigateway.GuardCall:
		case slices.ContainsFunc(g.Deny, matches), g.denies(t.Name):
			verdict.Block = ruleDeny
		case len(g.Allow) > 0 && !slices.ContainsFunc(g.Allow, matches):
			verdict.Block = ruleAllow
		}
	}
	return verdict, nil
}

// mostName bounds the normal form of a name, in bytes. A longer one is cut off.
const mostName = 64 << 10

// denies reports whether a name is denied in the form in which texts are searched: models and
// servers may read it without its invisible characters. Names that are allowed are compared as
// they are.
func (g *Tools) denies(name string) bool {
	if isASCII(name) && strings.TrimSpace(name) == name {
		return false
	}
	left := mostName
	form, _ := new(walker).normalize(name, &left)
	form = strings.TrimSpace(form)
	return slices.ContainsFunc(g.Deny, func(p aigateway.Pattern) bool {
		left := mostName
		plain, _ := new(walker).normalize(string(p), &left)
		return aigateway.Pattern(plain).Match(form)
	})
}

// Words returns the words of Tools in the Caddyfile.
func (*Tools) Words() []string { return []string{ruleAllow, ruleDeny, ruleMCPURLs} }

// Rules implements aigateway.DescribedGuard.
func (g *Tools) Rules() []string {
	return slices.Concat(line(ruleAllow, g.Allow), line(ruleDeny, g.Deny), line(ruleMCPURLs, g.MCPURLs))
}

// UnmarshalCaddyfile reads the words of a guard. Syntax:
//
//	allow    <pattern...>
//	deny     <pattern...>
//	mcp_urls <pattern...>
func (g *Tools) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		list := &g.Allow
		switch d.Val() {
		case ruleAllow:
		case ruleDeny:
			list = &g.Deny
		case ruleMCPURLs:
			list = &g.MCPURLs
		default:
			return d.Errf("a guard tools has no word '%s'", d.Val())
		}
		for _, name := range aigateway.SplitList(d.RemainingArgs()) {
			*list = append(*list, aigateway.Pattern(name))
		}
	}
	if err := g.Validate(); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Validator       = (*Tools)(nil)
	_ aigateway.StreamGuard = (*Tools)(nil)
)

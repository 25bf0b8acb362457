package caddyfile

import (
	"math"
	"strconv"
	"strings"

	cf "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/mcp"
)

var mcpWords = words[*mcp.Config]{
	"to": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.Address, err = readOne(d)
		return err
	}},
	"auth":      {read: readMCPAuth},
	"caller":    {read: readMCPCaller},
	"tools":     {read: readMCPNames(func(m *mcp.Config) *[]aigateway.Pattern { return &m.Tools }), repeat: true},
	"prompts":   {read: readMCPNames(func(m *mcp.Config) *[]aigateway.Pattern { return &m.Prompts }), repeat: true},
	"resources": {read: readMCPNames(func(m *mcp.Config) *[]aigateway.Pattern { return &m.Resources }), repeat: true},
	"price":     {read: readMCPPrice, repeat: true},
	"pin": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.Pin, err = readOne(d)
		return err
	}},
	"era": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.Era, err = readOne(d)
		return err
	}},
	"headers": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.Headers, err = readList(d, nil)
		return err
	}},
	"max_body": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.MaxBody, err = readSize(d)
		return err
	}},
	"max_answer": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.MaxAnswer, err = readSize(d)
		return err
	}},
	"timeout": {read: func(d *cf.Dispenser, m *mcp.Config) (err error) {
		m.Timeout, err = readDuration(d)
		return err
	}},
}

// readMCP reads a server of the Model Context Protocol. Syntax:
//
//	mcp <name> {
//		to         <url>
//		auth       bearer <reference>
//		auth       header <name> <reference>
//		auth       exchange <token endpoint> { ... }
//		caller     <header> owner
//		caller     <header> claim <claim>
//		pin        warn | block
//		tools      <pattern...>
//		prompts    <pattern...>
//		resources  <pattern...>
//		price      <pattern> <US dollars>
//		era        auto | legacy | modern
//		headers    <name...>
//		max_body   <size>
//		max_answer <size>
//		timeout    <duration>
//	}
func readMCP(d *cf.Dispenser, c *config) error {
	line := *d // errors about the whole block contain its first line
	args := d.RemainingArgs()
	if len(args) != 1 {
		return d.Err("a line mcp is: mcp <name> { ... }, such as mcp github { ... }")
	}
	m := &mcp.Config{Name: args[0]}
	if err := mcpWords.readBlock(d, "mcp", m, nil); err != nil {
		return err
	}
	if err := m.Check(); err != nil {
		return line.Errf("mcp '%s': %w", m.Name, err)
	}
	c.gateway.MCP = append(c.gateway.MCP, m)
	return nil
}

// readMCPAuth reads the credential of a server.
func readMCPAuth(d *cf.Dispenser, m *mcp.Config) error {
	switch args := d.RemainingArgs(); {
	case len(args) == 2 && args[0] == "bearer":
		m.Auth = &mcp.Auth{Secret: args[1]}
	case len(args) == 3 && args[0] == "header":
		m.Auth = &mcp.Auth{Header: args[1], Secret: args[2]}
	case len(args) == 2 && args[0] == "exchange":
		e := &mcp.Exchange{Address: args[1]}
		m.Auth = &mcp.Auth{Exchange: e}
		return mcpExchangeWords.readBlock(d, "auth exchange", e, nil)
	default:
		return d.Err("a line auth is: auth bearer {env.NAME}, auth header <name> {env.NAME}, or auth exchange <token endpoint> { ... }")
	}
	return nil
}

var mcpExchangeWords = words[*mcp.Exchange]{
	"client": {read: func(d *cf.Dispenser, e *mcp.Exchange) error {
		args := d.RemainingArgs()
		if len(args) != 2 {
			return d.Err("a line client is: client <name of the gateway at the issuer> {env.NAME}")
		}
		e.Client, e.Secret = args[0], args[1]
		return nil
	}},
	"audience": {read: func(d *cf.Dispenser, e *mcp.Exchange) (err error) {
		e.Audience, err = readOne(d)
		return err
	}},
	"scope": {read: func(d *cf.Dispenser, e *mcp.Exchange) error {
		e.Scope = strings.Join(d.RemainingArgs(), " ")
		if e.Scope == "" {
			return d.ArgErr()
		}
		return nil
	}},
}

// readMCPCaller reads the header in which a server gets who calls it.
func readMCPCaller(d *cf.Dispenser, m *mcp.Config) error {
	switch args := d.RemainingArgs(); {
	case len(args) == 2 && args[1] == "owner":
		m.Caller = &mcp.Identity{Header: args[0]}
	case len(args) == 3 && args[1] == "claim" && args[2] != "":
		m.Caller = &mcp.Identity{Header: args[0], Claim: args[2]}
	default:
		return d.Err("a line caller is: caller <header> owner, or caller <header> claim <claim>")
	}
	return nil
}

// readMCPNames returns a function that reads patterns of what a server offers.
func readMCPNames(field func(*mcp.Config) *[]aigateway.Pattern) func(*cf.Dispenser, *mcp.Config) error {
	return func(d *cf.Dispenser, m *mcp.Config) error {
		list, err := readPatterns(d, nil)
		for _, pattern := range list {
			*field(m) = append(*field(m), aigateway.Pattern(pattern))
		}
		return err
	}
}

// readMCPPrice reads what a call of some tools costs.
func readMCPPrice(d *cf.Dispenser, m *mcp.Config) error {
	const micros = 1e6
	args := d.RemainingArgs()
	if len(args) != 2 {
		return d.Err("a price is: price <pattern of tools> <US dollars for each call>")
	}
	usd, err := strconv.ParseFloat(args[1], 64)
	if err != nil || !(usd >= 0 && usd*micros <= math.MaxInt32) {
		return d.Errf("price: '%s' is no amount of at most 2147 US dollars", args[1])
	}
	m.Prices = append(m.Prices, mcp.Price{Tools: aigateway.Pattern(args[0]), Micros: int32(math.Round(usd * micros))})
	return nil
}

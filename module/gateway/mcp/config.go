// Package mcp has the servers of the Model Context Protocol whose tools clients may use: what each
// shows and to whom, and the calls of them.
//
// It promises that a server gets the configured credential and none of a client, and that a client
// chooses no address. It starts no programs, follows no redirections, and fetches nothing that a
// server or a client names.
package mcp

import (
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"golang.org/x/net/http/httpguts"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// Config is a server of the Model Context Protocol.
type Config struct {
	// Name is the name of the server: lower-case letters, digits and hyphens. Clients use the path
	// /mcp/<name>, and keys name its tools mcp/<name>/<tool>.
	Name string `json:"name"`

	// Address is the http or https address of the server, with its path. Required.
	Address string `json:"to"`

	// Auth is the credential that the server gets. Default: none.
	Auth *Auth `json:"auth,omitempty"`

	// Caller is a header in which the server gets who calls it. Requests of clients without it are refused.
	// Default: none; the server sees the gateway alone.
	Caller *Identity `json:"caller,omitempty"`

	// Pin is what happens when the server changes the definition of a tool that clients have seen: "warn" logs
	// it, "block" also hides the tool until the new definition is accepted. The first definition of a tool is
	// accepted. Default: nothing.
	Pin string `json:"pin,omitempty"`

	// Tools are the names of the tools that clients see and may call. A "*" matches any characters.
	// Default: all.
	Tools []aigateway.Pattern `json:"tools,omitempty"`

	// Prompts are the names of the prompts that clients see and may get. Default: all.
	Prompts []aigateway.Pattern `json:"prompts,omitempty"`

	// Resources are the URIs of the resources, and the templates of URIs, that clients see and may
	// read. Default: all.
	Resources []aigateway.Pattern `json:"resources,omitempty"`

	// Prices are what calls of tools cost. The first that matches a tool counts. Default: calls cost
	// nothing.
	Prices []Price `json:"prices,omitempty"`

	// Era is whether the server has sessions: "legacy" for the versions before 2026-07-28, which have them,
	// "modern" for the later ones, which have none, "auto" if the requests of clients decide. Default:
	// auto.
	Era string `json:"era,omitempty"`

	// Headers are further headers that are passed on in both directions. Default: those of the protocol.
	Headers []string `json:"headers,omitempty"`

	// MaxBody is the largest message of a client in bytes. Default: 1048576 (1 MiB).
	MaxBody int64 `json:"max_body,omitempty"`

	// MaxAnswer is the largest message of the server in bytes. Default: 16777216 (16 MiB).
	MaxAnswer int64 `json:"max_answer,omitempty"`

	// Timeout is the longest time until the server begins its answer, which may be the time that a tool
	// takes. Default: 5m.
	Timeout caddy.Duration `json:"timeout,omitempty"`
}

// Auth is the credential of a server.
type Auth struct {
	// Header is the header that has the credential. Default: Authorization.
	Header string `json:"header,omitempty"`

	// Secret is a reference to the credential: {env.NAME} or {file./absolute/path}. It follows "Bearer "
	// in the header Authorization. A change of a file takes effect within about two seconds. Required without
	// Exchange.
	Secret string `json:"secret,omitempty"`

	// Exchange gives each client a credential of its own, in place of Secret. Default: none.
	Exchange *Exchange `json:"exchange,omitempty"`
}

// Price is what a call of a tool costs.
type Price struct {
	Tools aigateway.Pattern `json:"tools"`
	// Micros is the price of one call in millionths of a US dollar.
	Micros int32 `json:"micros"`
}

// The values of Config.Era.
const (
	Auto   = "auto"
	Legacy = "legacy"
	Modern = "modern"
)

// Root is the path below which all servers are.
const Root = "/mcp"

// ResourceRoot is the path below which the metadata of resources are, in front of the path of the resource
// (RFC 9728).
const ResourceRoot = "/.well-known/oauth-protected-resource"

const (
	defaultMaxBody   = 1 << 20
	defaultMaxAnswer = 16 << 20
	defaultTimeout   = 5 * time.Minute
	longestName      = 64
)

var (
	errName = errors.New("the name of an MCP server is 1 to 64 lower-case letters, digits or hyphens")
	errTo   = errors.New("to: must be an http or https address without a password, a query and a fragment")
	errEra  = errors.New("era: must be auto, legacy or modern")
	errPin  = errors.New("pin: must be warn or block")
)

// IsName reports whether a text is a name of a server.
func IsName(name string) bool {
	return name != "" && len(name) <= longestName && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

// Check returns an error for a configuration that is not valid.
func (c *Config) Check() error {
	address, err := url.Parse(c.Address)
	switch {
	case !IsName(c.Name):
		return errName
	case err != nil, address.Host == "", address.Scheme != "http" && address.Scheme != "https", address.User != nil, address.RawQuery != "", address.Fragment != "":
		return errTo
	case !slices.Contains([]string{"", Auto, Legacy, Modern}, c.Era):
		return errEra
	case !slices.Contains([]string{"", Warn, Block}, c.Pin):
		return errPin
	case c.MaxBody < 0, c.MaxAnswer < 0, c.Timeout < 0:
		return errors.New("max_body, max_answer and timeout must be positive")
	}
	for _, pattern := range slices.Concat(c.Tools, c.Prompts, c.Resources) {
		if _, err := aigateway.ParsePattern(string(pattern)); err != nil {
			return err
		}
	}
	for _, price := range c.Prices {
		if _, err := aigateway.ParsePattern(string(price.Tools)); err != nil || price.Micros < 0 {
			return errors.Join(errors.New("price: must be a pattern of tools and US dollars"), err)
		}
	}
	if err := checkHeaders(c.Headers); err != nil {
		return err
	}
	if c.Auth != nil {
		if err := c.Auth.check(); err != nil {
			return fmt.Errorf("auth: %w", err)
		}
		if slices.Contains(slices.Concat(sent, received, c.own()), textproto.CanonicalMIMEHeaderKey(c.Auth.Header)) {
			return fmt.Errorf("auth: the header '%s' is one that clients and the server pass on", c.Auth.Header)
		}
	}
	if c.Caller != nil {
		taken := slices.Concat(sent, c.own())
		if c.Auth != nil {
			taken = append(taken, textproto.CanonicalMIMEHeaderKey(c.Auth.Header))
		}
		return c.Caller.check(taken)
	}
	return nil
}

func (a *Auth) check() error {
	if a.Header != "" && !httpguts.ValidHeaderFieldName(a.Header) || slices.Contains(ofConnection, textproto.CanonicalMIMEHeaderKey(a.Header)) {
		return fmt.Errorf("'%s' is no header of a credential", a.Header)
	}
	if a.Exchange != nil {
		return a.Exchange.check()
	}
	return aigateway.CheckSecretReference(a.Secret)
}

// Shows reports whether the server shows an element to clients.
func (c *Config) Shows(e mcp.Element) bool {
	patterns := [...][]aigateway.Pattern{mcp.Tool: c.Tools, mcp.Prompt: c.Prompts, mcp.Resource: c.Resources}[e.Kind]
	return e.Name != "" && !e.IsAmbiguous() &&
		(patterns == nil || slices.ContainsFunc(patterns, func(p aigateway.Pattern) bool { return p.Match(e.Name) }))
}

// PriceOf returns what a call of a tool costs, in millionths of a US dollar.
func (c *Config) PriceOf(tool string) (micros int32) {
	for _, price := range c.Prices {
		if price.Tools.Match(tool) {
			return price.Micros
		}
	}
	return 0
}

package mcp

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/mcp"
)

// sent are the headers of clients, in canonical form, that servers get. All others stay here: credentials,
// cookies, and what proxies add. What repeats the message is made anew from it.
var sent = []string{"Accept", "Accept-Language", "Last-Event-Id", mcp.VersionHeader, "Traceparent", "Tracestate", "User-Agent"}

// parameterPrefix is what headers begin with that repeat parameters of a tool.
const parameterPrefix = "Mcp-Param-"

// received are the headers of answers, in canonical form, that clients get.
var received = []string{"Content-Type", "Retry-After", mcp.VersionHeader}

// ofConnection are headers of the connection, which are not passed on.
var ofConnection = []string{
	"Connection", "Content-Encoding", "Content-Length", "Expect", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// forbidden are headers of credentials, and those that others set about a client, which no configuration
// passes on.
var forbidden = []string{
	"Api-Key", "Authorization", "Cookie", "Forwarded", "Origin", "Proxy-Authenticate", "Proxy-Authorization", "Set-Cookie", "Via",
	"Www-Authenticate", "X-Api-Key", "X-Goog-Api-Key", mcp.MethodHeader, mcp.NameHeader, mcp.SessionHeader,
}

func checkHeaders(names []string) error {
	for _, name := range names {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if !httpguts.ValidHeaderFieldName(name) || slices.Contains(forbidden, canonical) || slices.Contains(ofConnection, canonical) ||
			strings.HasPrefix(canonical, "X-Forwarded-") {
			return fmt.Errorf("headers: '%s' cannot be passed on", name)
		}
	}
	return nil
}

// own returns the configured headers in canonical form.
func (c *Config) own() (names []string) {
	for _, name := range c.Headers {
		names = append(names, textproto.CanonicalMIMEHeaderKey(name))
	}
	return names
}

// outgoing returns the headers of a client that the server gets.
func (s *Server) outgoing(client http.Header) http.Header {
	h := http.Header{"User-Agent": {""}, "Accept-Encoding": {"identity"}}
	for name, values := range client {
		if slices.Contains(s.sent, name) || strings.HasPrefix(name, parameterPrefix) {
			h[name] = values
		}
	}
	return h
}

// WithoutParameters returns the headers of a client without those that repeat parameters of a tool.
func WithoutParameters(client http.Header) http.Header {
	h := client.Clone()
	maps.DeleteFunc(h, func(name string, _ []string) bool { return strings.HasPrefix(name, parameterPrefix) })
	return h
}

// Incoming returns the headers of an answer that the client gets.
func (s *Server) Incoming(answer http.Header) http.Header {
	h := make(http.Header, 4)
	for _, name := range s.received {
		if v := answer[name]; len(v) > 0 {
			h[name] = v
		}
	}
	return h
}

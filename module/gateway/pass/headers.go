package pass

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// sent are the headers of clients, in canonical form, that providers get. All others stay here:
// credentials, cookies, what proxies add, and the organization and the project by which a client
// could choose another part of the account.
var sent = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Anthropic-Beta", "Anthropic-Version", "Content-Disposition", "Content-Encoding",
	"Content-Language", "Content-Type", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "Idempotency-Key",
	"Openai-Beta", "Range", "User-Agent", "X-Goog-Api-Client", "X-Stainless-Helper-Method",
}

// received are the headers of answers, in canonical form, that clients get.
var received = []string{
	"Accept-Ranges", "Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length",
	"Content-Range", "Content-Type", "Etag", "Last-Modified", "Openai-Poll-After-Ms", "Openai-Processing-Ms", "Openai-Version",
	"Retry-After", "Retry-After-Ms", "X-Should-Retry",
}

// forbidden are headers that no configuration passes on: those of the credential and of the connection.
var forbidden = []string{
	"Authorization", "Connection", "Cookie", "Expect", "Forwarded", "Host", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Proxy-Connection", "Set-Cookie", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via", "X-Api-Key", "Api-Key", "X-Goog-Api-Key",
}

func checkHeaders(names []string) error {
	for _, name := range names {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if !httpguts.ValidHeaderFieldName(name) || slices.Contains(forbidden, canonical) || strings.HasPrefix(canonical, "X-Forwarded-") {
			return fmt.Errorf("headers: '%s' cannot be passed on", name)
		}
	}
	return nil
}

// Sent returns the names of the headers of clients that the provider gets.
func (c *Config) Sent() []string { return slices.Concat(sent, c.own()) }

// Received returns the names of the headers of answers that clients get.
func (c *Config) Received() []string { return slices.Concat(received, c.own()) }

// Outgoing returns the headers with some names that the provider gets. An empty value keeps net/http
// from adding a header of its own.
func Outgoing(names []string, client http.Header) http.Header {
	h := http.Header{"User-Agent": {""}, "Accept-Encoding": {"identity"}}
	for _, name := range names {
		if v := client[name]; len(v) > 0 {
			h[name] = v
		}
	}
	return h
}

// own returns the configured headers in canonical form.
func (c *Config) own() (names []string) {
	for _, name := range c.Headers {
		names = append(names, textproto.CanonicalMIMEHeaderKey(name))
	}
	return names
}

// Query returns the query of a client without parameters that may have a key.
func Query(raw string) string {
	kept := slices.DeleteFunc(strings.Split(raw, "&"), exchange.HasQueryKey)
	return strings.Join(kept, "&")
}

package aigateway

import (
	"context"
	"net/http"
	"net/netip"
	"path"
	"strings"

	"github.com/caddyserver/caddy/v2"
)

// Challenge is the value of the WWW-Authenticate header of every answer with
// status 401. API keys and session tokens are both sent as bearer tokens.
const Challenge = `Bearer realm="ai_gateway"`

// ClientAddress returns the address of the client of a request. Behind a proxy that Caddy
// trusts, it is the forwarded address. It returns the zero address if the address is
// unknown. The address is Caddy's variable caddyhttp.ClientIPVarKey of the request. A guest that
// needs nothing else of the package caddyhttp does not have to import it.
func ClientAddress(r *http.Request) netip.Addr {
	vars, _ := r.Context().Value(caddy.CtxKey("vars")).(map[string]any)
	if text, ok := vars["client_ip"].(string); ok {
		if address, err := netip.ParseAddr(text); err == nil {
			return address.Unmap().WithZone("")
		}
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// ClientAddressText returns ClientAddress as a text, "" if the address is unknown.
func ClientAddressText(r *http.Request) string {
	if address := ClientAddress(r); address.IsValid() {
		return address.String()
	}
	return ""
}

// PathPrefix returns what the site has cut off the path of a request, "/ai" in a block
// "handle_path /ai/* {…}", and "" for nothing. It has no doubled slash, so that no browser takes
// an address with it for one of another host. It is found in the original request, which is
// Caddy's value caddyhttp.OriginalRequestCtxKey in the context.
func PathPrefix(r *http.Request) string {
	original, ok := r.Context().Value(caddy.CtxKey("original_request")).(http.Request)
	if !ok {
		return ""
	}
	prefix, cut := strings.CutSuffix(original.URL.EscapedPath(), r.URL.EscapedPath())
	if prefix = path.Clean("/" + prefix); !cut || prefix == "/" {
		return ""
	}
	return prefix
}

type publicURL struct{}

// WithPublicURL returns a request with the address by which clients reach the gateway, as the
// configuration has it. With "", it returns the request as it is.
func WithPublicURL(r *http.Request, address string) *http.Request {
	if address == "" {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), publicURL{}, strings.TrimSuffix(address, "/")))
}

// PublicURL returns the address that WithPublicURL has given a request, without a slash at its end,
// "" for none.
func PublicURL(r *http.Request) string {
	address, _ := r.Context().Value(publicURL{}).(string)
	return address
}

// CrossOrigin reports whether a browser sent the request for a page of another
// origin. In contrast to http.CrossOriginProtection, it checks requests of every
// method, GET included.
func CrossOrigin(r *http.Request) bool {
	checked := *r
	checked.Method = http.MethodPost
	return new(http.CrossOriginProtection).Check(&checked) != nil
}

// OwnsPath reports whether owns returns true for a path as the client sent it, or for the
// path without doubled slashes and dot segments. Clients send a doubled slash if their base
// URL ends with a slash. If such a path reached other handlers of the site, a client could
// take their answer for an answer of the gateway.
func OwnsPath(sent string, owns func(string) bool) bool { return owns(sent) || owns(path.Clean(sent)) }

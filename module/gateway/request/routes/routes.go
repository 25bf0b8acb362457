// Package routes decides what a request asks for: the endpoint, the model in its path, and the
// format in which it is answered.
//
// It promises that all of this is known before anything else of the request is read, and that a
// path of the gateway without an endpoint is refused: a client would take the answer of another
// handler, such as Caddy's empty 200, for an answer of the gateway.
package routes

import (
	"net/http"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/backends"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/realtime"
)

// Kind is who answers a request, and with what.
type Kind uint8

// The kinds.
const (
	Elsewhere    Kind = iota // the site's next handler
	Call                     // a provider
	Models                   // the list of models
	Model                    // a model
	Capabilities             // the fields that each model keeps
	Billing                  // the usage of a key
	Cache                    // the cached answers of a key, to remove them
	Object                   // the provider that stores an object, or will
	Pass                     // the provider to which the path is passed on; Find returns no such route
	MCP                      // a server of the Model Context Protocol; Find returns no such route
	Accounts                 // the accounts
	Front                    // the first page of a site that has none
	Socket                   // the provider of a WebSocket, which Fault refuses if the site has none
	Secret                   // the gateway, with a client secret for a WebSocket; Fault refuses it if the site has none
	Message                  // a provider, by a message on a WebSocket; Find returns no such route
	Unknown                  // nobody: Fault is the answer
)

// Route is what a request asks for.
type Route struct {
	Kind      Kind
	Operation translate.Operation
	Format    *format.Descriptor // in which the request is answered, errors included
	KeyFormat *format.Descriptor // that may have the key elsewhere than in Authorization; nil for none
	Model     string             // in the path; "" for none
	Stream    bool               // the path or the query asks for a stream

	Object *format.ObjectPath // of the kind Object

	Fault   *fault.Fault // refuses the request; nil for none
	Keyless bool         // the fault is sent whatever key the request has
	Allow   string       // methods, for the header of the fault; "" for none

	HasQueryKey bool // the query, or the subprotocols of a WebSocket, may have a key, which access logs must not show

	meant *format.Descriptor // of the path that an unknown path resembles; nil for none
}

// Find returns the route of a request to a site with these backends.
func Find(r *http.Request, site *backends.Set) Route {
	var found Route
	switch e, ok := endpointOf(r, site); {
	case ok:
		found = e.route(r)
	case aigateway.OwnsPath(r.URL.Path, isOurs):
		found, _ = unknown(r, site)
	case site.Accounts != nil && site.Accounts.Serves(r):
		return Route{Kind: Accounts}
	case isSocket(r, &found):
	case isTransfer(r.URL.Path):
		return Route{HasQueryKey: exchange.HasQueryKey(r.URL.RawQuery)}
	default:
		return Route{}
	}
	found.HasQueryKey = exchange.HasQueryKey(r.URL.RawQuery) || found.Kind == Socket && hasKeyProtocol(r)
	found.chooseFormat(r)
	return found
}

// hasKeyProtocol reports whether a request for a WebSocket has a key among its subprotocols, as those of
// scripts of web pages do.
func hasKeyProtocol(r *http.Request) bool {
	return slices.ContainsFunc(r.Header["Sec-Websocket-Protocol"], func(v string) bool { return strings.Contains(v, realtime.KeyProtocol) })
}

// FindUnserved returns the route of a request whose path the site does not serve, although others do. Its
// kind is Elsewhere for paths of uploads and downloads, which other handlers may have.
func FindUnserved(r *http.Request, site *backends.Set) Route {
	if isTransfer(r.URL.Path) {
		return Route{HasQueryKey: exchange.HasQueryKey(r.URL.RawQuery)}
	}
	found, _ := unknown(r, site)
	if f := versionOf(r.URL.Path); f != nil && strings.Contains(r.URL.Path, "/models/") {
		method := unservedMethod(f, r)
		found = method.route(r)
	}
	found.HasQueryKey = exchange.HasQueryKey(r.URL.RawQuery)
	found.chooseFormat(r)
	return found
}

// FindUnanswered returns the route of a request that no handler of the site has answered. Its kind
// is Elsewhere unless clients would misunderstand an empty 200: as an answer without a text, or as
// a login, if the request was probably meant for the gateway; as a tunnel that is open.
func FindUnanswered(r *http.Request, site *backends.Set) Route {
	var found Route
	switch {
	case r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return Route{Kind: Front}
	case r.Method == http.MethodConnect: // its path may be empty
		found = noTunnel()
	case site.Accounts != nil && isLogin(r.URL.Path):
		return Route{Kind: Accounts}
	default:
		var likely bool
		if found, likely = unknown(r, site); !likely {
			return Route{}
		}
	}
	found.HasQueryKey = exchange.HasQueryKey(r.URL.RawQuery)
	found.chooseFormat(r)
	return found
}

package aigateway

import "net/http"

// Accounts is what the module ai_gateway.accounts implements: the HTTP surface
// with which people manage their accounts and keys.
type Accounts interface {
	// UseStore tells, once and before all else, where accounts are kept.
	UseStore(Store)
	// LimitOfKeys is the name of a limit that keys made there are subject to;
	// empty for none. It must be known wherever they may be used.
	LimitOfKeys() string
	// Serves reports whether a request is for one of its routes.
	Serves(*http.Request) bool
	// ServeHTTP answers the requests that it serves. It returns nothing to Caddy,
	// which would have it log the request's headers.
	http.Handler
	// Admin answers the requests of the administrator of the machine, who
	// needs no login: those of Caddy's admin API below /ai_gateway/, and those
	// of the command line.
	Admin() http.Handler
}

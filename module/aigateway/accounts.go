package aigateway

import "net/http"

// Accounts is the interface of the module ai_gateway.accounts. It is the HTTP API by which
// users manage their accounts and keys, and administrators those of other users.
type Accounts interface {
	// UseStore sets the store of the accounts. It is called once, while the
	// configuration is provisioned, before any other method.
	UseStore(Store)

	// LimitOfKeys returns the name of the limit of the keys that users create,
	// empty for none. Every site with these accounts must define the limit. It is
	// called while the configuration is provisioned.
	LimitOfKeys() string

	// ReserveNames sets a function that reports whether a username belongs to the owner
	// of a key outside of the store. Nobody may choose such a name at a registration,
	// because the user would read and spend what counts for the owner; an administrator
	// may create the user. ReserveNames is called at most once, while the configuration is
	// provisioned. Many goroutines call the function at once.
	ReserveNames(reserved func(username string) bool)

	// Serves reports whether ServeHTTP answers the request. The site's other
	// handlers get every other request.
	Serves(*http.Request) bool

	// Handler answers the requests that Serves accepts. It is not a handler of
	// Caddy, whose errors cause access logs to show the headers of requests.
	http.Handler

	// Admin returns a handler for the administrator of the machine, who does not
	// log in. It answers requests to Caddy's admin API below /api/v1/, and
	// those of the command caddy ai-gateway.
	Admin() http.Handler
}

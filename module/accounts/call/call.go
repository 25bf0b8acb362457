// Package call reads the requests of the API of accounts: the session and the rights of the
// user, the JSON object of the body, and the parameters of lists.
//
// It promises that the session and the rights are read from the store for each request, so that
// changes take effect at once, and that bodies are bounded in size and time. It refuses requests
// from other sites if the browser may have added the credential, and bodies that programs could
// read in different ways.
package call

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// Call is a request while it is being answered.
type Call struct {
	*http.Request
	Rights
	AnswerHeader http.Header
	Access       Access
	PathValue    string             // the variable part of the path
	Form         *Form              // nil if the endpoint reads no body
	Session      *aigateway.Session // nil without a login

	proxy    *signin.Proxy         // nil without one
	deadline func(time.Time) error // sets the read deadline of the connection
}

// New returns the call of a request that w answers. proxy is nil if no proxy signs users in. The
// caller sets Access, and what it knows of the path and the body.
func New(w http.ResponseWriter, r *http.Request, store aigateway.Store, proxy *signin.Proxy) *Call {
	return &Call{Request: r, Rights: Rights{store: store}, proxy: proxy, AnswerHeader: w.Header(), deadline: http.NewResponseController(w).SetReadDeadline}
}

// ActAs makes a user the actor of the changes of the call, nil for a client without a login.
// session is that of the request, 0 for none.
func (c *Call) ActAs(user *aigateway.User, session int64) {
	by := aigateway.Actor{Name: aigateway.ActorAnonymous, Address: aigateway.ClientAddressText(c.Request), Session: session}
	if user != nil {
		by.Name, by.Role = aigateway.ActorUser+user.Name, user.Role
	}
	if replacer, ok := c.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		by.Request, _ = replacer.GetString("http.request.uuid")
	}
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), by))
}

// ActAsIssuer makes a way to sign in the actor of the changes of the call: it gives accounts and
// roles.
func (c *Call) ActAsIssuer(way string) {
	by, _ := aigateway.ActorOf(c.Context())
	by.Name = aigateway.ActorIssuer + way
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), by))
}

// ActAsMachine makes the administrator of the machine the actor of the changes of the call,
// unless a command of this process has named itself already.
func (c *Call) ActAsMachine() {
	if _, named := aigateway.ActorOf(c.Context()); named {
		return
	}
	by := aigateway.Actor{Name: aigateway.ActorAdminAPI, Address: aigateway.ClientAddressText(c.Request)}
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), by))
}

// ID returns the variable part of a path with {id}.
func (c *Call) ID() int64 {
	id, _ := strconv.ParseInt(c.PathValue, 10, 64)
	return id
}

// Address returns the address of the client.
func (c *Call) Address() netip.Addr { return aigateway.ClientAddress(c.Request) }

// secure reports whether the client uses TLS, either to this server or to a proxy that
// Caddy trusts.
func (c *Call) secure() bool {
	trusted, _ := caddyhttp.GetVar(c.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return c.TLS != nil || trusted && c.Header.Get("X-Forwarded-Proto") == "https"
}

// ErrCrossOrigin is the problem of a request that a page of another site makes.
var ErrCrossOrigin = answer.Refuse(http.StatusForbidden, "the request comes from another site")

// Network returns the network of an address. One client is assumed to have all addresses
// of a network.
func Network(address netip.Addr) string {
	bits := 64
	if address.Is4() {
		bits = 24
	}
	prefix, err := address.Prefix(bits)
	if err != nil || !prefix.IsValid() {
		return "unknown"
	}
	return prefix.String()
}

// The bounds of a page.
const (
	defaultPageSize = 20
	maxPageSize     = 100
	maxPage         = 1_000_000
	MaxKeyword      = 256 // bytes
)

// Page reads a page from the query: p or page, from 1; size or page_size; and keyword.
// A smaller page than 1 is the first page, and a size out of bounds is replaced by the nearest
// bound, because existing clients send such numbers.
func (c *Call) Page() (answer.Page, aigateway.Page, error) {
	number, err := c.QueryNumber(1, "p", "page")
	if err != nil {
		return answer.Page{}, aigateway.Page{}, err
	}
	size, err := c.QueryNumber(defaultPageSize, "size", "page_size")
	if err != nil {
		return answer.Page{}, aigateway.Page{}, err
	}
	keyword := c.URL.Query().Get("keyword")
	if number > maxPage || len(keyword) > MaxKeyword {
		return answer.Page{}, aigateway.Page{}, answer.Invalid("p must be at most %d, and keyword at most %d bytes", maxPage, MaxKeyword)
	}
	number, size = max(number, 1), min(max(size, 1), maxPageSize)
	page := aigateway.Page{Search: keyword, Offset: (number - 1) * size, Limit: size}
	return answer.Page{Page: number, PageSize: size}, page, nil
}

// QueryNumber returns a number of the query, which may have one of several names. It may be
// negative.
func (c *Call) QueryNumber(absent int, names ...string) (int, error) {
	query := c.URL.Query()
	for _, name := range names {
		if !query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(name))
		if err != nil {
			return 0, answer.Invalid("%s must be a whole number", name)
		}
		return n, nil
	}
	return absent, nil
}

// Principal identifies the origin of a request for the bounds of the queue. The
// zero value is the local administrator, who has no bounds.
type Principal struct {
	Account, Network string
	Stranger         bool // neither logged in nor in a known network
}

// Principal returns the origin of the call, with the account if a user is logged in.
func (c *Call) Principal() Principal {
	if c.Access == LocalAdmin {
		return Principal{}
	}
	who := Principal{Network: Network(c.Address()), Stranger: c.User == nil}
	if c.User != nil {
		who.Account = strconv.FormatInt(c.User.ID, 10)
	}
	return who
}

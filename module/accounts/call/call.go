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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/api"
)

// Call is a request while it is being answered.
type Call struct {
	*http.Request
	Rights
	AnswerHeader http.Header
	Access       Access
	Session      *aigateway.Session // nil without a login

	body     []byte
	machine  bool                  // the administrator of the machine makes the call
	proxy    *signin.Proxy         // nil without one
	deadline func(time.Time) error // sets the read deadline of the connection
}

// New returns the call of a request that w answers. proxy is nil if no proxy signs users in.
func New(w http.ResponseWriter, r *http.Request, store aigateway.Store, proxy *signin.Proxy) *Call {
	return &Call{Request: r, Rights: Rights{store: store}, proxy: proxy, AnswerHeader: w.Header(), deadline: http.NewResponseController(w).SetReadDeadline}
}

// ActAs makes a user the actor of the changes of the call, nil for a client without a login.
// session is that of the request, 0 for none.
func (c *Call) ActAs(user *aigateway.User, session int64) {
	actor := aigateway.Actor{Name: aigateway.ActorAnonymous, Address: aigateway.ClientAddressText(c.Request), Session: session}
	if user != nil {
		actor.Name, actor.Role = aigateway.ActorUser+user.Name, user.Role
	}
	if replacer, ok := c.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		actor.Request, _ = replacer.GetString("http.request.uuid")
	}
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), actor))
}

// ActAsIssuer makes a way to sign in the actor of the changes of the call: it gives accounts and
// roles.
func (c *Call) ActAsIssuer(way string) {
	actor, _ := aigateway.ActorOf(c.Context())
	actor.Name = aigateway.ActorIssuer + way
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), actor))
}

// ActAsMachine makes the administrator of the machine the actor of the changes of the call,
// unless a command of this process has named itself already.
func (c *Call) ActAsMachine() {
	c.machine = true
	if _, named := aigateway.ActorOf(c.Context()); named {
		return
	}
	actor := aigateway.Actor{Name: aigateway.ActorAdminAPI, Address: aigateway.ClientAddressText(c.Request)}
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), actor))
}

// IsMachine reports whether the administrator of the machine makes the call.
func (c *Call) IsMachine() bool { return c.machine }

// ID returns the number {id} of the path.
func (c *Call) ID() int64 {
	id, _ := strconv.ParseInt(c.PathValue("id"), 10, 64) // the router has checked it
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
	usualPage   = 100
	largestPage = 1000
	maxOffset   = 100_000_000
	MaxSearch   = 256 // bytes
)

// PageParameters are the parameters that Page reads, and SortedParameters those of a list with orders.
var (
	PageParameters   = []string{"search", "limit", "after"}
	SortedParameters = append([]string{"sort"}, PageParameters...)
)

// ErrCursor is the problem of a request with a cursor that no page has.
var ErrCursor = answer.Invalid("after must be the value of next in the page before")

// PageSize reads the parameter limit, which a number out of bounds replaces by the nearest bound.
func (c *Call) PageSize(usual, largest int) (int, error) {
	size, err := c.QueryNumber(usual, "limit")
	return min(max(size, 1), largest), err
}

// Page reads a page from the query: limit, see PageSize; after, which is the value of next in the page before; search, a part of names;
// and sort, one of the orders of the list, with "-" before it for the largest first.
func (c *Call) Page(orders ...string) (page aigateway.Page, err error) {
	if page.Limit, err = c.PageSize(usualPage, largestPage); err != nil {
		return page, err
	}
	if offset := c.URL.Query().Get("after"); offset != "" {
		if page.Offset, err = strconv.Atoi(offset); err != nil || page.Offset < 1 || page.Offset > maxOffset {
			return page, ErrCursor
		}
	}
	if page.Search = c.URL.Query().Get("search"); len(page.Search) > MaxSearch {
		return page, answer.Invalid("search must be at most %d bytes", MaxSearch)
	}
	page.Sort, page.Down = strings.CutPrefix(c.URL.Query().Get("sort"), "-")
	if page.Sort != "" && !slices.Contains(orders, page.Sort) {
		return page, answer.Invalid("sort must be one of %s, with - before it for the largest first", strings.Join(orders, ", "))
	}
	return page, nil
}

// Listed returns a page of a list with so many items in all.
func Listed[T any](page aigateway.Page, items []T, total int) api.Page[T] {
	list := api.Page[T]{Items: items, Total: &total}
	if end := page.Offset + page.Limit; end < total {
		list.Next = strconv.Itoa(end)
	}
	return list
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
	if c.machine {
		return Principal{}
	}
	who := Principal{Network: Network(c.Address()), Stranger: c.User == nil}
	if c.User != nil {
		who.Account = strconv.FormatInt(c.User.ID, 10)
	}
	return who
}

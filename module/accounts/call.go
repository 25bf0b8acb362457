package accounts

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/accounts/signin"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// call is a request while it is being answered.
type call struct {
	*http.Request
	userRights
	proxy     *signin.Proxy         // nil without one
	header    http.Header           // header of the answer
	deadline  func(time.Time) error // sets the read deadline of the connection
	access    access
	pathValue string // the variable part of the path
	form      *form  // nil if the endpoint reads no body
	session   *aigateway.Session
}

func newCall(w http.ResponseWriter, r *http.Request, store aigateway.Store, proxy *signin.Proxy) *call {
	return &call{Request: r, userRights: userRights{store: store}, proxy: proxy, header: w.Header(), deadline: http.NewResponseController(w).SetReadDeadline}
}

// actAs makes a user the actor of the changes of the call, nil for a client without a login.
// session is that of the request, 0 for none.
func (c *call) actAs(user *aigateway.User, session int64) {
	by := aigateway.Actor{Name: aigateway.ActorAnonymous, Address: aigateway.ClientAddressText(c.Request), Session: session}
	if user != nil {
		by.Name, by.Role = aigateway.ActorUser+user.Name, user.Role
	}
	if replacer, ok := c.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		by.Request, _ = replacer.GetString("http.request.uuid")
	}
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), by))
}

// actAsIssuer makes a way to sign in the actor of the changes of the call: it gives accounts and
// roles.
func (c *call) actAsIssuer(way string) {
	by, _ := aigateway.ActorOf(c.Context())
	by.Name = aigateway.ActorIssuer + way
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), by))
}

// actAsMachine makes the administrator of the machine the actor of the changes of the call,
// unless a command of this process has named itself already.
func (c *call) actAsMachine() {
	if _, named := aigateway.ActorOf(c.Context()); named {
		return
	}
	by := aigateway.Actor{Name: aigateway.ActorAdminAPI, Address: aigateway.ClientAddressText(c.Request)}
	c.Request = c.WithContext(aigateway.WithActor(c.Context(), by))
}

// id returns the variable part of a path with {id}.
func (c *call) id() int64 {
	id, _ := strconv.ParseInt(c.pathValue, 10, 64)
	return id
}

// address returns the address of the client.
func (c *call) address() netip.Addr { return aigateway.ClientAddress(c.Request) }

// secure reports whether the client uses TLS, either to this server or to a proxy that
// Caddy trusts.
func (c *call) secure() bool {
	trusted, _ := caddyhttp.GetVar(c.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return c.TLS != nil || trusted && c.Header.Get("X-Forwarded-Proto") == "https"
}

var errCrossOrigin = refuse(http.StatusForbidden, "the request comes from another site")

// admit checks the credential of a call, and the role of its user. It refuses cross-site
// requests if the browser may have added the credential, or may store one from the
// answer. A call that waits for a hash calls admit again before it changes anything.
func (c *call) admit() error {
	switch c.access {
	case anyone, localAdmin:
		if new(http.CrossOriginProtection).Check(c.Request) != nil {
			return errCrossOrigin
		}
		return nil
	}
	if err := c.authenticate(); err != nil {
		return err
	}
	if c.access == admins && !c.isAdmin() {
		return errOnlyAdmins
	}
	if c.access == teamAdmins {
		return c.checkTeamAdmin(c.Context())
	}
	if c.access == roots && c.user.Role < aigateway.RoleRoot {
		return errRole
	}
	return nil
}

// network returns the network of an address. One client is assumed to have all addresses
// of a network.
func network(address netip.Addr) string {
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
	maxKeyword      = 256 // bytes
)

// pageView is a page of a list in an answer.
type pageView struct {
	Items    any `json:"items"`
	Total    int `json:"total"`
	Page     int `json:"page"` // from 1
	PageSize int `json:"page_size"`
}

// views returns the views of the items of a list.
func views[T, V any](items []T, view func(*T) V) []V {
	all := make([]V, len(items))
	for i := range items {
		all[i] = view(&items[i])
	}
	return all
}

// page reads a page from the query: p or page, from 1; size or page_size; and keyword.
// A smaller page than 1 is the first page, and a size out of bounds is replaced by the nearest
// bound, because existing clients send such numbers.
func (c *call) page() (pageView, aigateway.Page, error) {
	number, err := c.queryNumber(1, "p", "page")
	if err != nil {
		return pageView{}, aigateway.Page{}, err
	}
	size, err := c.queryNumber(defaultPageSize, "size", "page_size")
	if err != nil {
		return pageView{}, aigateway.Page{}, err
	}
	keyword := c.URL.Query().Get("keyword")
	if number > maxPage || len(keyword) > maxKeyword {
		return pageView{}, aigateway.Page{}, invalid("p must be at most %d, and keyword at most %d bytes", maxPage, maxKeyword)
	}
	number, size = max(number, 1), min(max(size, 1), maxPageSize)
	page := aigateway.Page{Search: keyword, Offset: (number - 1) * size, Limit: size}
	return pageView{Page: number, PageSize: size}, page, nil
}

// queryNumber returns a number of the query, which may have one of several names. It may be
// negative.
func (c *call) queryNumber(absent int, names ...string) (int, error) {
	query := c.URL.Query()
	for _, name := range names {
		if !query.Has(name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(name))
		if err != nil {
			return 0, invalid("%s must be a whole number", name)
		}
		return n, nil
	}
	return absent, nil
}

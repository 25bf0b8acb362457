package accounts

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// call is a request while it is being answered.
type call struct {
	*http.Request
	header    http.Header           // header of the answer
	deadline  func(time.Time) error // sets the read deadline of the connection
	access    access
	pathValue string // the variable part of the path
	form      *form  // nil if the endpoint reads no body
	session   *aigateway.Session
	user      *aigateway.User // nil for the administrator of the machine
}

func newCall(w http.ResponseWriter, r *http.Request) *call {
	return &call{Request: r, header: w.Header(), deadline: http.NewResponseController(w).SetReadDeadline}
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

// handle finds the endpoint of a request, reads the body, checks the credential, and
// calls the endpoint. It reads the body first, because a client may send it slowly, and
// may lose its rights in the meantime.
func (a *Accounts) handle(c *call, table routes) (any, error) {
	found, pathValue, ok := table.find(c.URL.Path)
	if !ok {
		return nil, refuse(http.StatusNotFound, "there is no such path")
	}
	e, ok := found.of(c.Method)
	if !ok {
		c.header.Set("Allow", found.allowed())
		return nil, refuse(http.StatusMethodNotAllowed, "this path accepts %s", found.allowed())
	}
	c.pathValue, c.access = pathValue, e.access
	var formErr error // returned after admit, so that strangers get 401 instead
	if e.body {
		c.form, formErr = c.readForm()
	}
	if err := a.admit(c); err != nil {
		return nil, err
	}
	if formErr != nil {
		return nil, formErr
	}
	return a.serve(c, e)
}

// serve calls the endpoint. It bounds the number of concurrent changes of each user: a
// store makes one change at a time, and refuses changes if too many wait.
func (a *Accounts) serve(c *call, e endpoint) (any, error) {
	if c.user == nil || c.Method == http.MethodGet || c.Method == http.MethodHead {
		return e.serve(a, c)
	}
	who := c.principal().account
	if !a.shared.changes.acquire(who) {
		return nil, errTooManyChanges
	}
	defer a.shared.changes.release(who)
	return e.serve(a, c)
}

var errCrossOrigin = refuse(http.StatusForbidden, "the request comes from another site")

// admit checks the credential of a call, and the role of its user. It refuses cross-site
// requests if the browser may have added the credential, or may store one from the
// answer. A call that waits for a hash calls admit again before it changes anything.
func (a *Accounts) admit(c *call) error {
	switch c.access {
	case anyone, localAdmin:
		if new(http.CrossOriginProtection).Check(c.Request) != nil {
			return errCrossOrigin
		}
		return nil
	}
	if err := a.authenticate(c); err != nil {
		return err
	}
	if c.access == admins && c.user.Role < aigateway.RoleAdmin {
		return refuse(http.StatusForbidden, "only administrators may do this")
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

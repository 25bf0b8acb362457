package accounts

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// call is one request while it is answered.
type call struct {
	*http.Request
	header   http.Header           // of the answer
	deadline func(time.Time) error // sets when reading the body ends, where the server can
	access   access
	variable string // part of the path
	form     *form  // nil where no body is read
	session  *aigateway.Session
	user     *aigateway.User // who asks; nil for the administrator of the machine
}

func newCall(w http.ResponseWriter, r *http.Request) *call {
	return &call{Request: r, header: w.Header(), deadline: http.NewResponseController(w).SetReadDeadline}
}

// id is the variable part of the path, a number by the route.
func (c *call) id() int64 {
	id, _ := strconv.ParseInt(c.variable, 10, 64)
	return id
}

// address is where the request comes from.
func (c *call) address() netip.Addr { return aigateway.ClientAddress(c.Request) }

// secure reports whether the client speaks TLS: to this server, or to a proxy
// that Caddy trusts and that says so.
func (c *call) secure() bool {
	trusted, _ := caddyhttp.GetVar(c.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	return c.TLS != nil || trusted && c.Header.Get("X-Forwarded-Proto") == "https"
}

// handle finds what answers a request, reads the body, checks who asks and asks
// for the answer. The body comes first: a client sends it as slowly as it likes,
// and a right that was checked before may have been taken away meanwhile.
func (a *Accounts) handle(c *call, table routes) (any, error) {
	found, variable, ok := table.find(c.URL.Path)
	if !ok {
		return nil, refuse(http.StatusNotFound, "there is nothing at this path")
	}
	e, ok := found.of(c.Method)
	if !ok {
		c.header.Set("Allow", found.allowed())
		return nil, refuse(http.StatusMethodNotAllowed, "this path takes %s", found.allowed())
	}
	c.variable, c.access = variable, e.access
	var unread error // which strangers are not told
	if e.body {
		c.form, unread = c.readForm()
	}
	if err := a.admit(c); err != nil {
		return nil, err
	}
	if unread != nil {
		return nil, unread
	}
	return a.serve(c, e)
}

// serve bounds the changes in progress of each user: a store performs changes one
// after the other, and only a bounded number of them may wait.
func (a *Accounts) serve(c *call, e endpoint) (any, error) {
	if c.user == nil || c.Method == http.MethodGet || c.Method == http.MethodHead {
		return e.serve(a, c)
	}
	who := c.principal().account
	if !a.shared.changes.take(who) {
		return nil, errTooManyChanges
	}
	defer a.shared.changes.give(who)
	return e.serve(a, c)
}

var errCrossOrigin = refuse(http.StatusForbidden, "the request comes from another site")

// admit checks the credential of a call and the role of its user. Cross-site
// requests are refused where a browser may have added a credential by itself, or
// may store one from the answer. A call that has waited is admitted again before
// it changes anything.
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

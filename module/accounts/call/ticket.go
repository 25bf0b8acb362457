package call

import (
	"cmp"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ticketFor is how long a person may take to sign in at an issuer.
const ticketFor = 10 * time.Minute

// ticketName returns the name of the cookie with the ticket of a sign-in. Browsers accept the
// prefix __Host- only from this host, over TLS and for the path /, so that no neighbour can set
// another ticket.
func (c *Call) ticketName(way string) string {
	if c.secure() {
		return "__Host-signin-" + way
	}
	return "signin-" + way
}

// SetTicket keeps the ticket of a sign-in in the browser. Unlike the cookie of the session, it
// is sent when another site, the issuer, leads the browser back.
func (c *Call) SetTicket(way, ticket string) {
	cookie := http.Cookie{
		Name: c.ticketName(way), Value: ticket, Path: "/", MaxAge: int(ticketFor / time.Second),
		HttpOnly: true, Secure: c.secure(), SameSite: http.SameSiteLaxMode,
	}
	if ticket == "" {
		cookie.MaxAge = -1
	}
	c.AnswerHeader.Add("Set-Cookie", cookie.String())
}

// TakeTicket returns the ticket of a sign-in, "" if there is not exactly one, and deletes it.
func (c *Call) TakeTicket(way string) string {
	cookies := c.CookiesNamed(c.ticketName(way))
	c.SetTicket(way, "")
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// BaseURL returns the address of the gateway, as browsers see it: the scheme and host of the
// request, and what the site has cut off its path.
func (c *Call) BaseURL() string {
	if c.secure() {
		return "https://" + c.Host + aigateway.PathPrefix(c.Request)
	}
	return "http://" + c.Host + aigateway.PathPrefix(c.Request)
}

// PublicURL returns the address of the gateway for programs: public_url of the site, else BaseURL.
// Browsers go on where they are, since the cookie with their ticket is of one host.
func (c *Call) PublicURL() string { return cmp.Or(aigateway.PublicURL(c.Request), c.BaseURL()) }

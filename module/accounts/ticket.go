package accounts

import (
	"net/http"
	"time"
)

// redirect is an answer that sends a browser to an address, with GET.
type redirect string

// write implements written.
func (to redirect) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Location", string(to))
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer") // the address of a callback contains a code
	w.WriteHeader(http.StatusSeeOther)
}

// ticketFor is how long a person may take to sign in at an issuer.
const ticketFor = 10 * time.Minute

// ticketName returns the name of the cookie with the ticket of a sign-in. Browsers accept the
// prefix __Host- only from this host, over TLS, so that no neighbour can set another ticket.
func (c *call) ticketName(way string) string {
	if c.secure() {
		return "__Host-signin-" + way
	}
	return "signin-" + way
}

// setTicket keeps the ticket of a sign-in in the browser. Unlike the cookie of the session, it
// is sent when another site, the issuer, leads the browser back.
func (c *call) setTicket(way, ticket string) {
	cookie := http.Cookie{
		Name: c.ticketName(way), Value: ticket, Path: "/", MaxAge: int(ticketFor / time.Second),
		HttpOnly: true, Secure: c.secure(), SameSite: http.SameSiteLaxMode,
	}
	if ticket == "" {
		cookie.MaxAge = -1
	}
	c.header.Add("Set-Cookie", cookie.String())
}

// takeTicket returns the ticket of a sign-in, "" if there is not exactly one, and deletes it.
func (c *call) takeTicket(way string) string {
	cookies := c.CookiesNamed(c.ticketName(way))
	c.setTicket(way, "")
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// origin returns the scheme and host of the request, as browsers show them.
func (c *call) origin() string {
	if c.secure() {
		return "https://" + c.Host
	}
	return "http://" + c.Host
}

package call

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// ticketFor is how long a person may take to sign in at an issuer.
const ticketFor = 10 * time.Minute

// ticketName returns the name of the cookie with the tickets of sign-ins. Browsers accept the
// prefix __Host- only from this host, over TLS and for the path /, so that no neighbour can set
// another ticket.
func (c *Call) ticketName(way string) string {
	if c.secure() {
		return "__Host-signin-" + way
	}
	return "signin-" + way
}

// maxTickets is the greatest number of sign-ins that a browser can have begun at once, one in each tab.
const maxTickets = 5

// AddTicket keeps the ticket of a sign-in in the browser, beside those that other tabs have begun.
func (c *Call) AddTicket(way, ticket string) {
	tickets := append([]string{ticket}, c.tickets(way)...)
	c.setTickets(way, tickets[:min(len(tickets), maxTickets)])
}

// TakeTicket returns the ticket of the sign-in that ends, "" if the browser has none, and deletes it.
func (c *Call) TakeTicket(way string, ends func(ticket string) bool) (ticket string) {
	tickets := c.tickets(way)
	if i := slices.IndexFunc(tickets, ends); i >= 0 {
		ticket = tickets[i]
		c.setTickets(way, slices.Delete(tickets, i, i+1))
	}
	return ticket
}

// tickets returns the tickets of the browser, none if there is not exactly one cookie, and no more than
// the gateway has put there.
func (c *Call) tickets(way string) []string {
	cookies := c.CookiesNamed(c.ticketName(way))
	if len(cookies) != 1 || cookies[0].Value == "" {
		return nil
	}
	tickets := strings.SplitN(cookies[0].Value, ".", maxTickets+1)
	return tickets[:min(len(tickets), maxTickets)]
}

// setTickets replaces the tickets in the browser. Unlike the cookie of the session, they are sent
// when another site, the issuer, leads the browser back.
func (c *Call) setTickets(way string, tickets []string) {
	cookie := http.Cookie{
		Name: c.ticketName(way), Value: strings.Join(tickets, "."), Path: "/", MaxAge: int(ticketFor / time.Second),
		HttpOnly: true, Secure: c.secure(), SameSite: http.SameSiteLaxMode,
	}
	if len(tickets) == 0 {
		cookie.MaxAge = -1
	}
	c.AnswerHeader.Add("Set-Cookie", cookie.String())
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

package gatewaytest

import "net/http"

// persistent is a client that uses a connection for one request, and sends it
// again when the connection was lost.
type persistent struct{ http.RoundTripper }

// RoundTrip sends a request up to ten times.
func (p persistent) RoundTrip(r *http.Request) (response *http.Response, err error) {
	for range 10 {
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		if response, err = p.RoundTripper.RoundTrip(r); err == nil {
			break
		}
	}
	return response, err
}

// Persistent uses each connection for one request, and sends a request again
// when its connection was lost. Each reload closes a listening socket and idle
// connections, that of the admin endpoint included, and with any handler of
// Caddy what is just arriving there is lost (T7): tests that reload the
// configuration need it.
func Persistent(transport *http.Transport) http.RoundTripper {
	transport.DisableKeepAlives = true
	return persistent{transport}
}

// Persist makes Client Persistent.
func (c *Caddy) Persist() { c.Client.Transport = Persistent(c.Client.Transport.(*http.Transport)) }

package gatewaytest

import (
	"net/http"
	"sync/atomic"
)

// persistent is a transport to a server that may have been reloaded. A reload
// closes a listening socket and idle connections, that of the admin endpoint
// included; with any handler of Caddy, a request that is just arriving there is
// lost (T7). From the first reload on, each connection serves one request, and a
// request whose connection was lost is sent again.
type persistent struct {
	*http.Transport
	reloaded atomic.Bool
}

// attempts bounds how often a request is sent.
const attempts = 10

// RoundTrip sends a request until it is answered, if the server was reloaded.
func (p *persistent) RoundTrip(r *http.Request) (response *http.Response, err error) {
	for range attempts {
		again := r.WithContext(r.Context()) // a copy: callers keep theirs
		again.Close = p.reloaded.Load()
		if r.GetBody != nil {
			if again.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		response, err = p.Transport.RoundTrip(again)
		if err == nil || !p.reloaded.Load() {
			break
		}
	}
	return response, err
}

// Persistent returns a transport to a server that is reloaded: each connection
// serves one request, and a request whose connection was lost is sent again.
func Persistent(transport *http.Transport) http.RoundTripper {
	p := &persistent{Transport: transport}
	p.reloaded.Store(true)
	return p
}

package gatewaytest

import (
	"net/http"
	"sync/atomic"
)

// persistent is a transport to a server that may be reloaded. A reload closes listening
// sockets and idle connections, also those of the admin endpoint, and a request that is
// just arriving there is lost (T7). After the first reload, each connection serves one
// request, and requests whose connection was lost are sent again.
type persistent struct {
	*http.Transport
	reloaded atomic.Bool
}

// attempts bounds how often a request is sent.
const attempts = 10

// RoundTrip sends a request. If the server was reloaded, RoundTrip repeats it until it is
// answered.
func (p *persistent) RoundTrip(r *http.Request) (response *http.Response, err error) {
	for range attempts {
		copied := r.WithContext(r.Context()) // a copy, because RoundTrip must not change the request
		copied.Close = p.reloaded.Load()
		if r.GetBody != nil {
			if copied.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		response, err = p.Transport.RoundTrip(copied)
		if err == nil || !p.reloaded.Load() {
			break
		}
	}
	return response, err
}

// Persistent returns a transport to a server that is reloaded. Each connection serves one
// request, and requests whose connection was lost are sent again.
func Persistent(transport *http.Transport) http.RoundTripper {
	p := &persistent{Transport: transport}
	p.reloaded.Store(true)
	return p
}

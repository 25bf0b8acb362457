package aigateway

import (
	"net/http"
	"net/netip"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Challenge is the WWW-Authenticate header of every 401: keys and sessions alike
// are sent as bearer tokens.
const Challenge = `Bearer realm="ai_gateway"`

// ClientAddress is where a request comes from, as Caddy's trusted proxies tell;
// the zero address when that cannot be said.
func ClientAddress(r *http.Request) netip.Addr {
	if text, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string); ok {
		if address, err := netip.ParseAddr(text); err == nil {
			return address.Unmap().WithZone("")
		}
	}
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return peer.Addr().Unmap().WithZone("")
}

// CrossOrigin reports whether a browser says that a page of another origin had it
// send the request. A GET is looked at like any other method.
func CrossOrigin(r *http.Request) bool {
	asked := *r
	asked.Method = http.MethodPost
	return new(http.CrossOriginProtection).Check(&asked) != nil
}

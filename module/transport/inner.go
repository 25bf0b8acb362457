package transport

import (
	"errors"
	"net/url"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
)

// This file forwards the optional interfaces of transports to the inner transport.
// reverse_proxy checks whether its transport has them. Without them, https addresses,
// health checks over TLS, the Host header and the PROXY protocol would not work, and
// reverse_proxy would return no error.

// TLSEnabled reports whether the inner transport speaks TLS.
func (t *Transport) TLSEnabled() bool {
	inner, ok := t.carrier.inner.(reverseproxy.TLSTransport)
	return ok && inner.TLSEnabled()
}

// EnableTLS enables TLS in the inner transport.
func (t *Transport) EnableTLS(base *reverseproxy.TLSConfig) error {
	inner, ok := t.carrier.inner.(reverseproxy.TLSTransport)
	if !ok {
		return errors.New("the transport does not support TLS")
	}
	return inner.EnableTLS(base)
}

// EnableH2C enables HTTP/2 without TLS in the inner transport.
func (t *Transport) EnableH2C() error {
	inner, ok := t.carrier.inner.(reverseproxy.H2CTransport)
	if !ok {
		return errors.New("the transport does not support h2c")
	}
	return inner.EnableH2C()
}

// ProxyProtocolEnabled reports whether the inner transport sends PROXY headers.
func (t *Transport) ProxyProtocolEnabled() bool {
	inner, ok := t.carrier.inner.(reverseproxy.ProxyProtocolTransport)
	return ok && inner.ProxyProtocolEnabled()
}

// OverrideHealthCheckScheme lets the inner transport choose the scheme of
// active health checks.
func (t *Transport) OverrideHealthCheckScheme(base *url.URL, port string) {
	if inner, ok := t.carrier.inner.(reverseproxy.HealthCheckSchemeOverriderTransport); ok {
		inner.OverrideHealthCheckScheme(base, port)
	}
}

// RequestHeaderOps returns the header operations of the inner transport, such as the Host
// header of TLS upstreams.
func (t *Transport) RequestHeaderOps() *headers.HeaderOps {
	inner, ok := t.carrier.inner.(reverseproxy.RequestHeaderOpsTransport)
	if !ok {
		return nil
	}
	return inner.RequestHeaderOps()
}

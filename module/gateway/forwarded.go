package gateway

import (
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
)

// warnForwarded logs a warning, once for each server, if clients can forge their address
// and a check of the gateway depends on it.
func (h *handler) warnForwarded(app *app) {
	server := h.server
	if server == nil || !trustsFirstAddress(server) || slices.Contains(app.forwarded, server) || !h.dependsOnAddress() {
		return
	}
	app.forwarded = append(app.forwarded, server)
	h.logger.Warn("clients can choose the address that they seem to come from: without trusted_proxies_strict, trusted_proxies takes the first address of X-Forwarded-For, which is the client's own where a proxy adds to the header",
		zap.String("server", server.Name()),
		zap.String("depends_on_it", "from of keys, the throttle of logins"),
		zap.String("remedy", "add trusted_proxies_strict, or let every proxy replace the header"))
}

// dependsOnAddress reports whether a check depends on the address of the client: the
// site has accounts, or a key that the sources list is bound to networks.
func (h *handler) dependsOnAddress() bool {
	if h.backends.Accounts != nil {
		return true
	}
	for key := range h.resolved.sources.All() {
		if len(key.Networks) > 0 {
			return true
		}
	}
	return false
}

// trustsFirstAddress reports whether a server trusts proxies, and takes the first
// address of X-Forwarded-For, to which proxies usually append.
func trustsFirstAddress(server *caddyhttp.Server) bool {
	isForwardedFor := func(header string) bool { return strings.EqualFold(header, "X-Forwarded-For") }
	return server.TrustedProxiesStrict == 0 && trustsProxies(server) && slices.ContainsFunc(server.ClientIPHeaders, isForwardedFor)
}

// trustsProxies reports whether a server trusts any proxy. It uses reflection, because
// Caddy does not export the field with the loaded trusted_proxies (T31).
func trustsProxies(server *caddyhttp.Server) bool {
	loaded := reflect.ValueOf(server).Elem().FieldByName("trustedProxies")
	return server.TrustedProxiesUnix || loaded.IsValid() && !loaded.IsNil()
}

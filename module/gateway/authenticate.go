package gateway

import (
	"crypto/sha256"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// authenticate finds the key of a request. The credential is in Authorization or in the
// header other, which is "" for none. Unknown and disabled keys get the same answer after
// the same lookup; only the log has the reason. While a source has not read all of its keys,
// an unknown key may be valid, so the client is asked to try again.
func (h *Handler) authenticate(to *reply.Reply, r *http.Request, other string) *fault.Fault {
	credential, f := keyring.Credential(r, other)
	if f != nil {
		return f
	}
	key, now := h.resolved.sources.Find(sha256.Sum256([]byte(credential))), time.Now()
	switch {
	case key == nil && !h.resolved.sources.Complete():
		to.SetHeader("Retry-After", doubtSeconds)
		return fault.KeysUnavailable()
	case key == nil && aigateway.MistypedAPIKey(credential):
		return fault.MistypedKey()
	case key == nil:
		return fault.BadKey()
	case key.Disabled:
		h.logRefusedKey(to.Exchange, key, "it is disabled")
		return fault.BadKey()
	case key.Expired(now):
		h.logRefusedKey(to.Exchange, key, "it has expired")
		return fault.ExpiredKey()
	case len(key.Networks) > 0 && !key.AllowsFrom(aigateway.ClientAddress(r)):
		h.logRefusedKey(to.Exchange, key, "it may not be used from this address")
		return fault.NetworkNotAllowed()
	}
	observe.AnnounceExpiry(key, now)
	to.Exchange.Key = key
	return nil
}

// doubtSeconds is the Retry-After for keys that may be valid: a store that was
// unreachable is usually read again within this time.
const doubtSeconds = "5"

func (h *Handler) logRefusedKey(ex *exchange.Exchange, key *aigateway.Key, reason string) {
	h.logger.Info("key refused",
		zap.String("request_id", ex.ID), zap.String("key_id", key.ID), zap.String("reason", reason))
}

// keyHeader returns the header that may contain the key instead of Authorization, "" for
// none. The header belongs to the format of the endpoint; for an endpoint without a
// format, to the format whose version header the request has.
func keyHeader(r *http.Request, e endpoint) string {
	f := e.format
	if f == nil {
		f = formatByVersion(r)
	}
	if f == nil {
		return ""
	}
	return f.Client.KeyHeader
}

package gateway

import (
	"crypto/sha256"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/keyring"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// authenticate finds the key of a request. The credential is in Authorization or in the
// header other, which is "" for none. Unknown and disabled keys get the same answer after
// the same lookup; only the log has the reason.
func (h *Handler) authenticate(to *reply.Reply, r *http.Request, other string) *fault.Fault {
	credential, f := keyring.Credential(r, other)
	if f != nil {
		return f
	}
	key := h.resolved.sources.Find(sha256.Sum256([]byte(credential)))
	switch {
	case key == nil:
		return h.unknownKey(to, credential)
	case key.Disabled:
		h.logRefusedKey(to, key, "it is disabled")
		return fault.BadKey()
	case key.Expired(time.Now()):
		h.logRefusedKey(to, key, "it has expired")
		return fault.ExpiredKey()
	case len(key.Networks) > 0 && !key.AllowsFrom(aigateway.ClientAddress(r)):
		h.logRefusedKey(to, key, "it may not be used from this address")
		return fault.NetworkNotAllowed()
	}
	to.Exchange.Key = key
	return nil
}

// unknownKey returns the fault for a key that no source has. While a source has not read
// all of its keys, the key may be valid, so the client is asked to try again.
func (h *Handler) unknownKey(to *reply.Reply, credential string) *fault.Fault {
	switch {
	case !h.resolved.sources.Complete():
		to.SetHeader("Retry-After", doubtSeconds)
		return fault.KeysUnavailable()
	case aigateway.MistypedAPIKey(credential):
		return fault.MistypedKey()
	}
	return fault.BadKey()
}

// doubtSeconds is the Retry-After for keys that may be valid: a store that was
// unreachable is usually read again within this time.
const doubtSeconds = "5"

func (h *Handler) logRefusedKey(to *reply.Reply, key *aigateway.Key, reason string) {
	h.logger.Info("key refused",
		zap.String("request_id", to.Exchange.ID), zap.String("key_id", key.ID), zap.String("reason", reason))
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

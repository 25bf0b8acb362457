package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sockets/clientsecret"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/telemetry/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// authenticate finds the key of a request. The credential is in Authorization, or else where
// keyFormat has it, which is nil for nowhere else. Unknown and disabled keys get the same answer after
// the same lookup; only the log has the reason. While a source has not read all of its keys,
// an unknown key may be valid, so the client is asked to try again.
func (h *handler) authenticate(answer *reply.Reply, r *http.Request, keyFormat *format.Descriptor) *fault.Fault {
	var header, parameter string
	if keyFormat != nil {
		header, parameter = keyFormat.Client.KeyHeader, keyFormat.Client.KeyParameter
	}
	var digest aigateway.Digest
	var credential string
	var f *fault.Fault
	secret := clientsecret.Of(r)
	if secret != nil {
		digest = secret.Key
	} else {
		if credential, f = h.resolved.sources.Credential(r, header, parameter); f != nil {
			return f
		}
		digest = sha256.Sum256([]byte(credential))
	}
	key, now := h.resolved.sources.Find(digest), time.Now()
	if key == nil && secret == nil {
		if key, f = h.verify(answer, r.Context(), credential); f != nil {
			return f
		}
	}
	switch {
	case key == nil && !h.resolved.sources.Complete():
		answer.SetHeaders("Retry-After", doubtSeconds)
		return fault.KeysUnavailable()
	case key == nil && aigateway.MistypedAPIKey(credential):
		return fault.MistypedKey()
	case key == nil:
		return fault.BadKey()
	case key.Disabled:
		h.logRefusedKey(answer.Exchange, key, "it is disabled")
		return fault.BadKey()
	case key.Expired(now):
		h.logRefusedKey(answer.Exchange, key, "it has expired")
		return fault.ExpiredKey()
	case len(key.Networks) > 0 && !key.AllowsFrom(aigateway.ClientAddress(r)):
		h.logRefusedKey(answer.Exchange, key, "it may not be used from this address")
		return fault.NetworkNotAllowed()
	}
	if !strings.HasPrefix(credential, aigateway.AccessTokenPrefix) { // which its program renews
		observe.AnnounceExpiry(key, now)
	}
	answer.Exchange.Key = key
	return nil
}

// verify returns the key of a signed token. Both results are nil for a credential that is none.
func (h *handler) verify(answer *reply.Reply, ctx context.Context, credential string) (*aigateway.Key, *fault.Fault) {
	key, err := h.resolved.sources.Verify(ctx, credential)
	if err == nil {
		return key, nil
	}
	h.logger.Info("token refused", zap.String("request_id", answer.Exchange.ID), zap.Error(err))
	if refused := new(aigateway.TokenError); errors.As(err, &refused) {
		if refused.Forbidden {
			return nil, fault.TokenNotAllowed(refused.Problem)
		}
		return nil, fault.BadToken(refused.Problem, !refused.Expired)
	}
	answer.SetHeaders("Retry-After", doubtSeconds)
	return nil, fault.KeysUnavailable()
}

// doubtSeconds is the Retry-After for keys that may be valid: a store that was
// unreachable is usually read again within this time.
const doubtSeconds = "5"

func (h *handler) logRefusedKey(ex *exchange.Exchange, key *aigateway.Key, reason string) {
	h.logger.Info("key refused",
		zap.String("request_id", ex.ID), zap.String("key_id", key.ID), zap.String("reason", reason))
}

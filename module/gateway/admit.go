package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// admit asks the limit of the key, if it has one, whether the request may be
// served, and sets the headers that show what is left. What is reserved is settled
// on every way out of the exchange.
func (h *Handler) admit(m *model, s *sink.Sink, r *http.Request) *translate.Fault {
	ex := s.Exchange()
	if ex.Key.Limit == "" {
		return nil
	}
	limiter := h.resolved.limiters[ex.Key.Limit]
	if limiter == nil {
		h.logRefusedKey(s, ex.Key, "its limit '"+observe.Clip(ex.Key.Limit)+"' is not configured")
		return translate.LimitUnknown()
	}
	estimate := expectedTokens(ex, m)
	decision := limiter.Admit(r.Context(), ex.Key, estimate.Reserved)
	showQuotas(s, decision)
	if decision.Reservation == nil {
		return refuseLimited(s, decision, estimate)
	}
	s.Charge(meter.New(estimate, decision.Reservation))
	return nil
}

// refuseLimited refuses a request over the limit of its key, with the time
// after which there is room again.
func refuseLimited(s *sink.Sink, decision aigateway.Admission, estimate meter.Estimate) *translate.Fault {
	s.SetHeader("Retry-After", strconv.FormatInt(max(1, wholeSeconds(decision.RetryAfter)), 10))
	if decision.TooLarge {
		return translate.RequestTooCostly(estimate.Reserved, decision.Tokens.Limit, estimate.Assumed)
	}
	return translate.LimitReached(decision.Reached)
}

// wholeSeconds rounds up: whoever comes again then is not too early.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// quotaHeaders are the names of the headers that tell of a quota.
type quotaHeaders struct{ limit, remaining, reset string }

// The names as the client's family of SDKs knows them (wire format E.5).
var (
	messagesRequests = quotaHeaders{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"}
	messagesTokens   = quotaHeaders{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"}
	otherRequests    = quotaHeaders{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"}
	otherTokens      = quotaHeaders{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"}
)

// showQuotas sets the headers that show how much is left, whatever the answer is.
func showQuotas(s *sink.Sink, decision aigateway.Admission) {
	if s.Exchange().Format == translate.Messages {
		showQuota(s, messagesRequests, decision.Requests)
		showQuota(s, messagesTokens, decision.Tokens)
		return
	}
	showQuota(s, otherRequests, decision.Requests)
	showQuota(s, otherTokens, decision.Tokens)
}

func showQuota(s *sink.Sink, names quotaHeaders, q aigateway.Quota) {
	if q.Limit == 0 {
		return
	}
	s.SetHeader(names.limit, strconv.FormatInt(q.Limit, 10))
	s.SetHeader(names.remaining, strconv.FormatInt(q.Remaining, 10))
	s.SetHeader(names.reset, resetAt(s.Exchange().Format, q.Reset))
}

// resetAt returns a moment for messages clients, and a duration for others.
func resetAt(client translate.Format, in time.Duration) string {
	if client != translate.Messages {
		return (time.Duration(wholeSeconds(in)) * time.Second).String()
	}
	return time.Now().Add(in + time.Second - 1).UTC().Format(time.RFC3339)
}

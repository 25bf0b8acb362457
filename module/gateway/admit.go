package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// admit asks the limit of the key, if it has one, whether the request may be
// served, and tells the client in headers what is left. From then on every way
// out of the exchange settles what was reserved.
func (h *Handler) admit(m *model, s *sink, r *http.Request) *translate.Fault {
	key := s.ex.Key
	if key.Limit == "" {
		return nil
	}
	limiter := h.resolved.limiters[key.Limit]
	if limiter == nil {
		h.logRefusedKey(s, key, "its limit '"+clip(key.Limit)+"' is not configured")
		return translate.LimitUnknown()
	}
	s.meter.Estimate = expectedTokens(s.ex, m)
	decision := limiter.Admit(r.Context(), key, s.meter.Reserved)
	s.meter.Reserve(decision.Reservation)
	s.showQuotas(decision)
	if decision.Reservation != nil {
		return nil
	}
	return s.refuseLimited(decision)
}

// refuseLimited refuses a request over the limit of its key, with the time
// after which there is room again.
func (s *sink) refuseLimited(decision aigateway.Admission) *translate.Fault {
	s.retryAfter(int(max(1, wholeSeconds(decision.RetryAfter))))
	if decision.TooLarge {
		return translate.RequestTooCostly(s.meter.Reserved, decision.Tokens.Limit, s.meter.Assumed)
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

// showQuotas sets what tells the client how much is left, on whatever answer.
func (s *sink) showQuotas(decision aigateway.Admission) {
	if s.ex.Format == translate.Messages {
		s.showQuota(messagesRequests, decision.Requests)
		s.showQuota(messagesTokens, decision.Tokens)
		return
	}
	s.showQuota(otherRequests, decision.Requests)
	s.showQuota(otherTokens, decision.Tokens)
}

func (s *sink) showQuota(names quotaHeaders, q aigateway.Quota) {
	if q.Limit == 0 {
		return
	}
	h := s.w.Header()
	h[names.limit] = []string{strconv.FormatInt(q.Limit, 10)}
	h[names.remaining] = []string{strconv.FormatInt(q.Remaining, 10)}
	h[names.reset] = []string{s.resetAt(q.Reset)}
}

// resetAt is a moment for messages clients, and how long it takes for others.
func (s *sink) resetAt(in time.Duration) string {
	if s.ex.Format != translate.Messages {
		return (time.Duration(wholeSeconds(in)) * time.Second).String()
	}
	return time.Now().Add(in + time.Second - 1).UTC().Format(time.RFC3339)
}

package gateway

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/observe"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// admit writes down that the exchange begins, and reserves what it may use of the
// limit of its key. What was begun and reserved is settled on every way out of the
// exchange.
func (h *Handler) admit(m *model, s *sink.Sink, r *http.Request) *fault.Fault {
	ex := s.Exchange()
	entry, refused := h.begin(ex)
	if entry == nil && ex.Key.Limit == "" {
		return refused
	}
	estimate := expectedTokens(ex, m)
	var reservation aigateway.Reservation
	if refused == nil && ex.Key.Limit != "" {
		reservation, refused = h.reserve(s, r, estimate)
	}
	used := meter.New(estimate, reservation)
	used.Record(entry)
	s.Charge(used)
	return refused
}

// reserve asks the limit of the key whether the request may be served, and sets the
// headers that show what is left.
func (h *Handler) reserve(s *sink.Sink, r *http.Request, estimate meter.Estimate) (aigateway.Reservation, *fault.Fault) {
	key := s.Exchange().Key
	limiter := h.resolved.limiters[key.Limit]
	if limiter == nil {
		h.logRefusedKey(s, key, "its limit '"+observe.Clip(key.Limit)+"' is not configured")
		return nil, fault.LimitUnknown()
	}
	decision := limiter.Admit(r.Context(), key, estimate.Reserved)
	showQuotas(s, decision)
	if decision.Reservation == nil {
		return nil, refuseLimited(s, decision, estimate)
	}
	return decision.Reservation, nil
}

// refuseLimited refuses a request over the limit of its key, with the time
// after which there is room again.
func refuseLimited(s *sink.Sink, decision aigateway.Admission, estimate meter.Estimate) *fault.Fault {
	s.SetHeader("Retry-After", strconv.FormatInt(max(1, wholeSeconds(decision.RetryAfter)), 10))
	if decision.TooLarge {
		return fault.RequestTooCostly(estimate.Reserved, decision.Tokens.Limit, estimate.Assumed)
	}
	return fault.LimitReached(decision.Reached)
}

// wholeSeconds returns a duration in seconds, rounded up, so that a client that waits
// that long is not too early.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// showQuotas sets the headers that show how much is left, whatever the answer is.
func showQuotas(s *sink.Sink, decision aigateway.Admission) {
	quotas := &s.Exchange().Format.Client.Quotas
	for _, of := range [...]struct {
		names *format.QuotaHeaders
		quota aigateway.Quota
	}{{&quotas.Requests, decision.Requests}, {&quotas.Tokens, decision.Tokens}} {
		if of.quota.Limit == 0 {
			continue
		}
		s.SetHeader(of.names.Limit, strconv.FormatInt(of.quota.Limit, 10))
		s.SetHeader(of.names.Remaining, strconv.FormatInt(of.quota.Remaining, 10))
		s.SetHeader(of.names.Reset, quotas.Reset(time.Now(), of.quota.Reset))
	}
}

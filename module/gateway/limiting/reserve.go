// Package limiting reserves what exchanges may use of the limits of their keys, and
// shows clients what is left.
package limiting

import (
	"net/http"
	"strconv"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/metrics"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// Reserve asks a limit whether the request may be served, and sets the headers that
// show what is left. Either the reservation or the fault is nil.
func Reserve(limiter aigateway.Limiter, s *sink.Sink, r *http.Request, estimate meter.Estimate) (aigateway.Reservation, *fault.Fault) {
	decision := limiter.Admit(r.Context(), s.Exchange().Key, estimate.Reserved)
	show(s, decision)
	if decision.Reservation == nil {
		metrics.LimitDecision(s.Exchange().Key.Limit, decision.Reached, metrics.Refused)
		return nil, refuse(s, decision, estimate)
	}
	metrics.LimitDecision(s.Exchange().Key.Limit, "", metrics.Admitted)
	return decision.Reservation, nil
}

// refuse refuses a request over the limit of its key, with the time
// after which there is room again.
func refuse(s *sink.Sink, decision aigateway.Admission, estimate meter.Estimate) *fault.Fault {
	s.SetHeader("Retry-After", strconv.FormatInt(max(1, wholeSeconds(decision.RetryAfter)), 10))
	if decision.TooLarge {
		return fault.RequestTooCostly(estimate.Reserved, decision.Tokens.Limit, estimate.Assumed)
	}
	return fault.LimitReached(decision.Reached)
}

// wholeSeconds returns a duration in seconds, rounded up, so that a client that waits
// that long is not too early.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// show sets the headers that show how much is left, whatever the answer is.
func show(s *sink.Sink, decision aigateway.Admission) {
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

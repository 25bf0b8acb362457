package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

const (
	longestRetryWait = 5 * time.Second
	reconnectWait    = 250 * time.Millisecond // before a provider that could not be reached is called again
)

// retry asks the last target a second time, if its failure cost nothing and may be over
// soon, and the retry budget of its provider allows it. It reports whether the exchange
// is over.
func (h *Handler) retry(p *progress, s *sink.Sink, r *http.Request) (end verdict, over bool) {
	if len(p.asked) == 0 || h.DisableRetry {
		return end, false
	}
	last := &p.asked[len(p.asked)-1]
	wait, ok := retryWait(&last.failed.Result)
	if !ok || !last.Provider.Retries.Withdraw() {
		return end, false
	}
	pause(r.Context(), wait)
	if end, over := endWith(&last.failed.Result, s, r.Context()); over {
		return end, true
	}
	return h.attempt(last.Candidate, p, s, r)
}

// retryWait returns the time to wait before a failed call is repeated. ok reports whether
// the call may be repeated: the failed call cannot have been charged, and the provider
// asks for at most longestRetryWait. A stream that ends with an overload before content may
// have been charged; one that ends with a rate limit was never begun.
func retryWait(result *exchange.Result) (wait time.Duration, ok bool) {
	switch {
	case result.Status == 0:
		return reconnectWait, !result.Sent && result.Fault.Kind == fault.BadGateway
	case result.Fault.Kind == fault.RateLimited, result.Fault.Kind == fault.Overloaded:
		wait = health.RetryAfter(result.Header)
		answered := result.Status == http.StatusOK && result.Fault.Kind == fault.Overloaded
		return wait, wait > 0 && wait <= longestRetryWait && !answered
	}
	return 0, false
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

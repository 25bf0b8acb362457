package sink

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// setAnswerHeaders sets the headers of an answer.
func (s *Sink) setAnswerHeaders(h http.Header) {
	h["X-Gateway-Model"] = []string{headerSafe(s.ex.View.Model)}
	setUpstreamHeaders(h, s.ex.Result)
	if losses := s.ex.Result.Losses; len(losses) > 0 {
		h["X-Gateway-Dropped"] = []string{losses.String()}
	}
	for _, name := range [...]string{"Content-Type", "Content-Length"} {
		if v := s.answer.header[name]; len(v) > 0 {
			h[name] = v[:1]
		}
	}
	if s.ex.Streaming() {
		s.setStreamHeaders(h)
	}
}

// setUpstreamHeaders sets the headers of the provider that the client gets. Headers
// of the gateway with the same names take precedence.
func setUpstreamHeaders(h http.Header, result *exchange.Result) {
	for name, v := range result.Header {
		if h[name] == nil {
			h[name] = v
		}
	}
	if result.RequestID != "" {
		h["X-Upstream-Request-Id"] = []string{result.RequestID}
	}
}

// setStreamHeaders sets the headers that keep whatever is between the gateway and the
// client from compressing, storing or collecting events.
func (s *Sink) setStreamHeaders(h http.Header) {
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	s.heartbeat.commit()
}

// setFaultHeaders sets the headers by which client libraries act on a fault.
func setFaultHeaders(h http.Header, f *fault.Fault) {
	if f.Final {
		h["X-Should-Retry"] = []string{"false"}
	}
	if f.RetryAfter > 0 {
		h["Retry-After"] = []string{strconv.Itoa(f.RetryAfter)}
	}
	if f.Kind == fault.Unauthenticated {
		h["Www-Authenticate"] = []string{aigateway.Challenge}
	}
	if f.Kind == fault.UpgradeRefused {
		h["Connection"] = []string{"close"}
	}
}

// headerSafe returns a model name as a header value: names may hold characters
// that header values must not.
func headerSafe(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, name)
}

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
	if s.showsTarget {
		h["X-Gateway-Target"] = []string{s.ex.Attempt.Provider + "/" + headerSafe(s.ex.Attempt.Model)}
	}
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
		setStreamHeaders(h)
		s.heartbeat.commit()
	}
}

// setUpstreamHeaders sets the listed headers of the provider's answer. Headers of the
// gateway with the same names take precedence.
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

// setStreamHeaders sets the headers of a stream. They prevent handlers and proxies between
// the gateway and the client from compressing, caching or buffering events.
func setStreamHeaders(h http.Header) {
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	}
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
}

// setFaultHeaders sets the headers by which client libraries decide what to do after a
// fault.
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

// headerSafe returns the name of a model as a header value. Characters that a header value
// must not contain become question marks.
func headerSafe(name string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, name)
}

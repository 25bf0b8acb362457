package gateway

import (
	"net/http"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/choice"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/detour"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
)

// ask calls a target. If the provider refuses the request for its format, for the reasoning
// of earlier turns, or for its demand for encrypted reasoning, ask repeats the call once with a detour. It returns the
// conduit of the call whose result counts.
func (h *Handler) ask(t choice.Candidate, s *sink.Sink, r *http.Request, c *exchange.Conduit) *exchange.Conduit {
	h.call(t, s, r, c)
	d := detour.After(t.Provider, c)
	if d.Format == nil {
		return c
	}
	again := &exchange.Conduit{Attempt: d.Around(c.Attempt)}
	teaches := d.Teaches(&c.Attempt)
	h.repeat(t, s, r, again)
	switch {
	case c.Result.State == exchange.Unasked:
	case again.Result.State == exchange.Unasked:
		resume(s, c)
		return c
	case teaches && d.Proves(&c.Result, &again.Result):
		h.learn(t, c, d)
	default:
		h.noteFailure(t.Target, &c.Attempt, &c.Result)
	}
	return again
}

// repeat calls the target again that was asked last.
func (h *Handler) repeat(t choice.Candidate, s *sink.Sink, r *http.Request, c *exchange.Conduit) {
	resume(s, c)
	h.call(t, s, r, c)
}

// resume makes c the attempt of the exchange without counting another target.
func resume(s *sink.Sink, c *exchange.Conduit) {
	s.Next(c)
	s.Exchange().Attempts--
}

// learn stores a detour for later requests for the model, and logs it once.
func (h *Handler) learn(t choice.Candidate, c *exchange.Conduit, d detour.Detour) {
	what := "provider wants another format for this model"
	if d.Unencrypted {
		what = "provider encrypts no reasoning of this model"
	}
	if d.Learn(t.Provider, &c.Attempt) {
		h.logFailure(zapcore.InfoLevel, what, &c.Attempt, &c.Result,
			zap.Stringer("format", c.Attempt.Format), zap.Stringer("instead", d.Format), zap.Duration("for", d.Period))
	}
}

package gateway

import (
	"cmp"
	"context"
	"net/http"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// verdict is what the attempts at a request came to. At most one of its fields is
// set; none is set for a request that was answered, or whose client has left.
type verdict struct {
	failed *exchange.Conduit // the failed attempt that the client hears of
	fault  *fault.Fault      // why no target was asked, or that the process shuts down
}

// try asks the model's targets in order until one answers. If none does, the
// verdict has the last attempt that a provider answered, else the last one that
// was asked, else the reason why the first target was not asked.
func (h *Handler) try(m *catalog.Model, s *sink.Sink, r *http.Request) (v verdict) {
	ex := s.Exchange()
	for _, t := range h.targets(m, ex) {
		c, f := newAttempt(t, ex)
		if f != nil {
			v.passOver(f)
			continue
		}
		s.Next(c)
		c = h.ask(t, s, r, c)
		result := &c.Result
		if end, over := endWith(result, s, r.Context()); over {
			return end
		}
		if result.State == exchange.Unasked {
			v.passOver(result.Fault)
			ex.Attempts--
			continue
		}
		h.noteFailure(t, &c.Attempt, result)
		v.note(c)
		if !m.Fallback.After(&c.Attempt, result) || ex.Attempts >= m.Attempts {
			break
		}
	}
	return v
}

// endWith reports whether the exchange ends with an attempt: because the process
// shuts down, the client has left, or content was sent.
func endWith(result *exchange.Result, s *sink.Sink, ctx context.Context) (end verdict, over bool) {
	switch {
	case drain.Interrupted(ctx) && !result.Whole():
		return verdict{fault: fault.ShuttingDown()}, true
	case s.Abandon(ctx):
		return verdict{}, true
	case s.Over():
		s.Finish(result)
		return verdict{}, true
	}
	return verdict{}, false
}

// passOver notes why a target was not asked. Only the first reason counts, and only
// while no target was asked.
func (v *verdict) passOver(f *fault.Fault) {
	if v.failed == nil {
		v.fault = cmp.Or(v.fault, f)
	}
}

// note notes a failed attempt. One that a provider answered is preferred to one that
// it did not, and a later one to an earlier one.
func (v *verdict) note(c *exchange.Conduit) {
	v.fault = nil
	if v.failed == nil || c.Result.Status >= 400 || v.failed.Result.Status < 400 {
		v.failed = c
	}
}

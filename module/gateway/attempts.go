package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/choice"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/health"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// verdict is the result of all attempts of an exchange. At most one field is set; none
// is set if a target has answered, or the client has left.
type verdict struct {
	failed *exchange.Conduit // the failed attempt whose error the client gets
	fault  *fault.Fault      // why no target was asked, or why the exchange was ended
}

// progress is the state of the attempts of an exchange.
type progress struct {
	verdict
	asked []asked
}

// asked is a candidate that was called, with its failed attempt.
type asked struct {
	choice.Candidate
	failed *exchange.Conduit
}

// try asks the targets of the model in order until one answers. If none does, the
// verdict has the last attempt that got an HTTP answer; else the last attempt; else, if
// no target was asked, the reason why the first one was not.
func (h *Handler) try(m *catalog.Model, s *sink.Sink, r *http.Request) verdict {
	var p progress
	targets := h.targets(m, s.Exchange())
	if !slices.ContainsFunc(targets, speaks(s.Exchange().Format)) {
		s.Exchange().Opening.Allow()
	}
	for _, t := range targets {
		if !p.admits(&t, m, s.Exchange()) {
			continue
		}
		if end, over := h.attempt(t, &p, s, r); over {
			return end
		}
	}
	if end, over := h.retry(&p, s, r); over {
		return end
	}
	return p.verdict
}

// speaks returns a function that reports whether the provider of a candidate speaks the
// format of clients, so that it may answer without translation.
func speaks(client *format.Descriptor) func(choice.Candidate) bool {
	return func(t choice.Candidate) bool { return t.Provider.Speaks(client, client) }
}

// admits reports whether a candidate may be asked after the attempts so far. Another API
// key of the same target may be asked if the last key caused the failure; another target
// if the model allows it.
func (p *progress) admits(t *choice.Candidate, m *catalog.Model, ex *exchange.Exchange) bool {
	for _, earlier := range slices.Backward(p.asked) {
		if t.SameTarget(&earlier.Candidate) {
			return health.BlamesKey(&earlier.failed.Attempt, &earlier.failed.Result)
		}
	}
	if len(p.asked) == 0 {
		return true
	}
	last := p.asked[len(p.asked)-1].failed
	return m.Fallback.After(&last.Attempt, &last.Result) && ex.Attempts < m.Attempts
}

// attempt asks a candidate, and reports whether the exchange is over. A target that is
// asked with a second API key counts once in Exchange.Attempts.
func (h *Handler) attempt(t choice.Candidate, p *progress, s *sink.Sink, r *http.Request) (end verdict, over bool) {
	ex := s.Exchange()
	c, f := newAttempt(t, ex)
	if f != nil {
		p.passOver(f)
		passOver(ex, t.Target, exchange.Unsuitable)
		return end, false
	}
	t.Provider.Retries.Deposit()
	before := ex.Attempts
	s.Next(c)
	if slices.ContainsFunc(p.asked, func(a asked) bool { return t.SameTarget(&a.Candidate) }) {
		ex.Attempts = before
	}
	c = h.ask(t, s, r, c)
	if end, over := endWith(&c.Result, s, r.Context()); over {
		return end, true
	}
	if c.Result.State == exchange.Unasked {
		p.passOver(c.Result.Fault)
		passOver(ex, t.Target, whyUnasked(c.Result.Fault))
		ex.Attempts = before
		return end, false
	}
	h.noteFailure(t.Target, &c.Attempt, &c.Result)
	p.note(c)
	p.asked = append(p.asked, asked{t, c})
	return end, false
}

// whyUnasked returns the reason of an attempt that made no call, by its fault.
func whyUnasked(f *fault.Fault) exchange.Reason {
	if f.Kind == fault.Overloaded {
		return exchange.Busy
	}
	return exchange.Unsuitable
}

// endWith reports whether the exchange ends after an attempt: the process shuts down, the
// deadline is over, the client has left, or content was sent.
func endWith(result *exchange.Result, s *sink.Sink, ctx context.Context) (end verdict, over bool) {
	switch {
	case drain.Interrupted(ctx) && !result.Whole():
		return verdict{fault: fault.ShuttingDown()}, true
	case context.Cause(ctx) == errDeadline && !result.Whole():
		return verdict{fault: fault.UpstreamTimeout(errDeadline)}, true
	case s.Abandon(ctx):
		return verdict{}, true
	case s.Over():
		s.Finish(result)
		return verdict{}, true
	}
	return verdict{}, false
}

// passOver records why a target was not asked. Only the first reason counts, and only
// while no target was asked.
func (v *verdict) passOver(f *fault.Fault) {
	if v.failed == nil {
		v.fault = cmp.Or(v.fault, f)
	}
}

// note records a failed attempt. An attempt with an error status takes precedence over
// one without, and a later attempt over an earlier one.
func (v *verdict) note(c *exchange.Conduit) {
	v.fault = nil
	if v.failed == nil || c.Result.Status >= 400 || v.failed.Result.Status < 400 {
		v.failed = c
	}
}

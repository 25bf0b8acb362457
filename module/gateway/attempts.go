package gateway

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
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
func (h *Handler) try(m *model, s *sink.Sink, r *http.Request) (v verdict) {
	ex := s.Exchange()
	for _, t := range m.targets {
		c, f := t.attempt(ex)
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
		if !m.fallback.after(&c.Attempt, result) || ex.Attempts >= m.attempts {
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

// attempt returns the attempt at t for an exchange. It refuses a target that cannot
// be asked in any faithful way.
func (t target) attempt(ex *exchange.Exchange) (*exchange.Conduit, *fault.Fault) {
	spoken, fault := t.formatFor(ex)
	if fault != nil {
		return nil, fault
	}
	return &exchange.Conduit{Attempt: exchange.Attempt{
		Exchange: ex,
		Provider: t.provider.name,
		Format:   spoken,
		Model:    t.upstreamModel(ex.View.Model),
		Traits:   t.traitsOf(ex.View.Model),
	}}, nil
}

// formatFor chooses the format to speak to the provider. Tokens are counted in the
// client's own format only.
func (t target) formatFor(ex *exchange.Exchange) (*format.Descriptor, *fault.Fault) {
	model := t.upstreamModel(ex.View.Model)
	spoken := t.provider.formatOf(model, ex.Format)
	switch {
	case ex.Operation == translate.CountTokens && (spoken != ex.Format || t.provider.uncounted.Has(model)):
		return nil, fault.NoTokenCount(ex.View.Model)
	case spoken == nil:
		return nil, fault.Untranslatable(ex.Format.Name, ex.View.Model, t.provider.formats[0].Name)
	}
	return spoken, nil
}

// formatOf returns the format to speak to p about a model: that of speakFor, unless p
// has refused the model in it.
func (p *provider) formatOf(model string, client *format.Descriptor) *format.Descriptor {
	spoken := p.speakFor(client)
	if other := learnedDetours.find(refusal{p.identity, model, spoken}); p.speaks(other, client) {
		return other
	}
	return spoken
}

// speakFor returns the format to speak to p for a client of a format: the client's own
// if p speaks it, so that its bytes go through unchanged, else the first that the
// request can be translated to; nil if there is none.
func (p *provider) speakFor(client *format.Descriptor) *format.Descriptor {
	if slices.Contains(p.formats, client) {
		return client
	}
	for _, f := range p.formats {
		if p.speaks(f, client) {
			return f
		}
	}
	return nil
}

// speaks reports whether p can be asked in a format for a client.
func (p *provider) speaks(f, client *format.Descriptor) bool {
	return slices.Contains(p.formats, f) && (f == client || pairs.CanTranslate(client.Name, f.Name))
}

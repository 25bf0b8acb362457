package gateway

import (
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/drain"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/meter"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// try asks the model's targets in order until one answers. When none does it
// returns the attempt that the client is to be told of: the last that a provider
// answered, or, where none did, the last of all; or, where nobody could be
// asked, why the first target could not; or that the process ends.
func (h *Handler) try(m *model, s *sink, r *http.Request) (told *exchange.Attempt, refused *translate.Fault) {
	for _, t := range m.targets {
		a, fault := s.begin(t)
		if fault != nil {
			refused = firstOf(refused, fault)
			continue
		}
		h.call(t, s, r, a)
		if drain.Interrupted(r.Context()) && !a.Finished {
			return nil, translate.ShuttingDown()
		}
		if s.abandon(r.Context()) {
			return nil, nil
		}
		if s.over() {
			s.finish(a)
			return nil, nil
		}
		if a.Refused { // nobody was asked
			refused = firstOf(refused, a.Fault)
			s.ex.Attempts--
			continue
		}
		h.noteFailure(t, a)
		if told == nil || a.Status >= 400 || told.Status < 400 {
			told = a
		}
		if !m.fallback.after(a) || s.ex.Attempts >= m.attempts {
			break
		}
	}
	return told, refused
}

func firstOf(a, b *translate.Fault) *translate.Fault {
	if a != nil {
		return a
	}
	return b
}

// call makes one attempt. However the call returns, the attempt then holds
// either an answer that the sink has sent or a fault.
func (h *Handler) call(t target, s *sink, r *http.Request, a *exchange.Attempt) {
	if a.Traits.EstimateInputTokens {
		a.BytesPerToken = h.ratios.BytesPerToken(meter.Model{Provider: a.Provider, Name: a.Model})
	}
	t.provider.call.Call(s, r.WithContext(exchange.WithAttempt(r.Context(), a)))
	if a.Fault == nil && !a.Finished {
		a.Fault = unexplained(s.answer.err, s.ex.View.Model)
	}
}

// begin starts the attempt of a target. It refuses a target that cannot be
// asked in any faithful way.
func (s *sink) begin(t target) (*exchange.Attempt, *translate.Fault) {
	ex := s.ex
	format, fault := t.formatFor(ex)
	if fault != nil {
		return nil, fault
	}
	a := &exchange.Attempt{
		Exchange: ex,
		Provider: t.provider.name,
		Format:   format,
		Model:    t.upstreamModel(ex.View.Model),
		Traits:   t.traitsOf(ex.View.Model),
	}
	if failed := ex.Attempt; failed != nil {
		s.meter.AddEarlier(failed)
	}
	ex.Attempt = a
	ex.Attempts++
	s.reset()
	return a, nil
}

// formatFor chooses the format to speak to the provider: the client's own where
// the provider speaks it, so that its bytes go through unchanged, else the first
// that the request can be translated to.
func (t target) formatFor(ex *exchange.Exchange) (translate.Format, *translate.Fault) {
	format, ok := t.provider.speakFor(ex.Format)
	switch {
	case ex.Operation == translate.CountTokens && (format != ex.Format || t.provider.uncounted.has(t.upstreamModel(ex.View.Model))):
		return "", translate.NoTokenCount(ex.View.Model)
	case !ok:
		return "", translate.Untranslatable(ex.Format, ex.View.Model, t.provider.formats[0])
	}
	return format, nil
}

// speakFor is the format to speak to p for a client of a format; ok is false
// where there is none.
func (p *provider) speakFor(client translate.Format) (format translate.Format, ok bool) {
	if speaks(p.formats, client) {
		return client, true
	}
	for _, format := range p.formats {
		if pairs.CanTranslate(client, format) {
			return format, true
		}
	}
	return "", false
}

// unexplained returns the fault of an attempt that the transport knows nothing of:
// reverse_proxy found no address for it, or failed itself.
func unexplained(err error, model string) *translate.Fault {
	if err == nil {
		err = errors.New("the call returned without an answer")
	}
	var handled caddyhttp.HandlerError
	if errors.As(err, &handled) && handled.StatusCode == http.StatusServiceUnavailable {
		f := translate.NoUpstream(model)
		f.Cause = err
		return f
	}
	return translate.InternalFault(err)
}

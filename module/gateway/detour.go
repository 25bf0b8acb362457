package gateway

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/sink"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// ask makes an attempt, and repeats it once if the format is why it was refused, or the
// reasoning of earlier turns. It returns the conduit of the call that counts.
func (h *Handler) ask(t target, s *sink.Sink, r *http.Request, c *exchange.Conduit) *exchange.Conduit {
	h.call(t, s, r, c)
	d := t.detourAfter(c)
	if d.format == nil {
		return c
	}
	again := &exchange.Conduit{Attempt: d.around(c.Attempt)}
	teaches := d.format != c.Attempt.Format && !mentions(s.Exchange().Body, d.format)
	h.repeat(t, s, r, again)
	switch {
	case c.Result.State == exchange.Unasked:
	case again.Result.State == exchange.Unasked:
		resume(s, c)
		return c
	case teaches && proves(&again.Result):
		h.learn(t, c, d)
	default:
		h.noteFailure(t, &c.Attempt, &c.Result)
	}
	return again
}

// around returns the attempt to make in place of a refused one: in the format of d, or
// without the sealed reasoning of earlier turns if the refused one was in that format.
// The reasoning of the new answer is sealed in any case.
func (d detour) around(refused exchange.Attempt) exchange.Attempt {
	if d.format == refused.Format {
		refused.Seals = refused.Seals.SealOnly()
	}
	refused.Format = d.format
	return refused
}

// repeat makes another call of the target that was asked last.
func (h *Handler) repeat(t target, s *sink.Sink, r *http.Request, c *exchange.Conduit) {
	resume(s, c)
	h.call(t, s, r, c)
}

// resume makes c the attempt of the exchange without counting another target.
func resume(s *sink.Sink, c *exchange.Conduit) {
	s.Next(c)
	s.Exchange().Attempts--
}

// detourAfter returns the format in which to repeat a call: the one that its answer
// calls for; or, if a detour cannot be taken with this request, the one that the
// detour avoids. Its format is nil if there is none, and that of the call if the call is
// to be repeated without the reasoning of earlier turns.
func (t target) detourAfter(c *exchange.Conduit) detour {
	a, result := &c.Attempt, &c.Result
	switch {
	case result.State == exchange.Unasked:
		if usual := t.provider.speakFor(a.Exchange.Format); usual != a.Format {
			return detour{format: usual}
		}
	case result.Fault != nil && a.Exchange.Operation == translate.Generate:
		return t.provider.detourAfter(a, result)
	}
	return detour{}
}

// detourAfter returns the format that p wants instead of that of an attempt, by its
// answer; or that of the attempt, if p wants the request without earlier reasoning.
func (p *provider) detourAfter(a *exchange.Attempt, result *exchange.Result) detour {
	missing := result.Status == http.StatusNotFound || result.Status == http.StatusMethodNotAllowed
	var next detour
	for _, f := range p.formats {
		same := f == a.Format
		if same && a.ByteLane() || !p.speaks(f, a.Exchange.Format) {
			continue
		}
		if f.Provider.WantAfter(same, result.Status, result.Fault) != format.WantNothing {
			return detour{format: f}
		}
		if next.format == nil && missing && !same && a.Format.Provider.MissingFor > 0 {
			next = detour{format: f, period: a.Format.Provider.MissingFor}
		}
	}
	return next
}

// proves reports whether a repeated call shows that the format of the first one was at
// fault. If a part of the request was left behind, that may have been at fault.
func proves(again *exchange.Result) bool { return again.Whole() && len(again.Losses) == 0 }

// mentions reports whether a request contains the path of a format. A provider that
// quotes the request in its refusal then seems to name the format, and what one client
// writes must not lead the requests of others.
func mentions(body []byte, f *format.Descriptor) bool {
	path := strings.TrimPrefix(f.Client.Endpoints[0].Path, "/")
	tokens := json.NewDecoder(bytes.NewReader(body))
	for {
		token, err := tokens.Token()
		if err != nil {
			return false
		}
		if text, ok := token.(string); ok && strings.Contains(strings.ToLower(text), path) {
			return true
		}
	}
}

// learn remembers a detour for later requests of the model, and logs it once.
func (h *Handler) learn(t target, c *exchange.Conduit, d detour) {
	a := &c.Attempt
	if learnedDetours.learn(refusal{t.provider.identity, a.Model, a.Format}, d) {
		h.logFailure(zapcore.InfoLevel, "provider wants another format for this model", a, &c.Result,
			zap.Stringer("format", a.Format), zap.Stringer("instead", d.format), zap.Duration("for", d.period))
	}
}

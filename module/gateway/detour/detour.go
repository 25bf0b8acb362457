// Package detour knows in which format a provider wants a model, in place of one that it
// refuses: it recognizes such a refusal by its answer, and remembers what proved right.
// It repeats no call itself.
package detour

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gateway/catalog"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// FormatFor returns the format to speak to p about a model: that of SpeakFor, unless p
// has refused the model in it.
func FormatFor(p *catalog.Provider, model string, client *format.Descriptor) *format.Descriptor {
	spoken := p.SpeakFor(client)
	if other := learned.find(refusal{p.Identity, model, spoken}); p.Speaks(other, client) {
		return other
	}
	return spoken
}

// After returns the format in which to repeat a call: the one that its answer
// calls for; or, if a detour cannot be taken with this request, the one that the
// detour avoids. Its format is nil if there is none, and that of the call if the call is
// to be repeated without the reasoning of earlier turns.
func After(p *catalog.Provider, c *exchange.Conduit) Detour {
	a, result := &c.Attempt, &c.Result
	switch {
	case result.State == exchange.Unasked:
		if usual := p.SpeakFor(a.Exchange.Format); usual != a.Format {
			return Detour{Format: usual}
		}
	case result.Fault != nil && a.Exchange.Operation == translate.Generate:
		return wantedBy(p, a, result)
	}
	return Detour{}
}

// wantedBy returns the format that p wants instead of that of an attempt, by its
// answer; or that of the attempt, if p wants the request without earlier reasoning.
func wantedBy(p *catalog.Provider, a *exchange.Attempt, result *exchange.Result) Detour {
	missing := result.Status == http.StatusNotFound || result.Status == http.StatusMethodNotAllowed
	var next Detour
	for _, f := range p.Formats {
		same := f == a.Format
		if same && a.ByteLane() || !p.Speaks(f, a.Exchange.Format) {
			continue
		}
		if f.Provider.WantAfter(same, result.Status, result.Fault) != format.WantNothing {
			return Detour{Format: f}
		}
		if next.Format == nil && missing && !same && a.Format.Provider.MissingFor > 0 {
			next = Detour{Format: f, Period: a.Format.Provider.MissingFor}
		}
	}
	return next
}

// Around returns the attempt to make in place of a refused one: in the format of d, or
// without the sealed reasoning of earlier turns if the refused one was in that format.
// The reasoning of the new answer is sealed in any case.
func (d Detour) Around(refused exchange.Attempt) exchange.Attempt {
	if d.Format == refused.Format {
		refused.Seals = refused.Seals.SealOnly()
	}
	refused.Format = d.Format
	return refused
}

// Teaches reports whether a detour around a refused attempt, if it succeeds, holds for
// later requests too.
func (d Detour) Teaches(refused *exchange.Attempt) bool {
	return d.Format != refused.Format && !mentions(refused.Exchange.Body, d.Format)
}

// Learn remembers the detour for later requests of the model, and reports whether it
// was unknown.
func (d Detour) Learn(p *catalog.Provider, refused *exchange.Attempt) bool {
	return learned.learn(refusal{p.Identity, refused.Model, refused.Format}, d)
}

// Proves reports whether a repeated call shows that the format of the first one was at
// fault. If a part of the request was left behind, that may have been at fault.
func Proves(again *exchange.Result) bool { return again.Whole() && len(again.Losses) == 0 }

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

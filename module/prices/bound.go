package prices

import (
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Most is the most that a call may use. Prompt may be an estimate.
type Most struct {
	Prompt   int64 // tokens
	Answer   int64 // tokens
	Searches int64
	Terms    token.Terms // that the request asks for
}

// Bound returns the most that a call costs, in billionths of the currency's unit: a
// prompt of which nothing is in a cache yet, and an answer of the most expensive kind of
// tokens, at the prices of the terms that raise them: a request for a cheaper tier may be
// served in the standard one. The prices beyond the edge hold from half of the edge on,
// because the prompt is estimated. Searches and terms whose price is unknown add nothing.
func (p *Price) Bound(admitted time.Time, m Most) int64 {
	pico := p.Base.most(m)
	if p.Edge > 0 && m.Prompt >= p.Edge/2 {
		pico = max(pico, p.Above.most(m))
	}
	factors := p.Factors.raising(m.Terms)
	if p.Peak.covers(admitted) {
		factors = append(factors, p.Peak.Factor)
	}
	return round(pico, factors)
}

// most returns the price of the most expensive kinds of tokens, in pico units.
func (r Rates) most(m Most) int64 {
	return saturate(saturate(
		product(int64(max(r.Fresh, r.CacheWrite, r.CacheWriteLong)), m.Prompt),
		product(int64(max(r.Output, r.Reasoning)), m.Answer)),
		product(int64(r.Search), m.Searches),
	)
}

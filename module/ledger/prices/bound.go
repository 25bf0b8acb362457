package prices

import (
	"cmp"
	"slices"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// MaxUse is the highest possible use of a call, or of several. Prompt may be an estimate.
type MaxUse struct {
	Prompt   int64 // tokens
	Longest  int64 // tokens of the longest of several prompts; 0 if Prompt is one
	Answer   int64 // tokens
	Searches int64
	Units    token.Units
	Terms    token.Terms // in the request
	Batch    bool        // the call is in a batch, which nothing serves at another price
}

// Bound returns the highest possible cost of a call, in billionths of the currency's unit.
// No part of the prompt is read from a cache, and the answer consists of the most expensive
// kind of tokens. Terms that lower the price are ignored, because the standard tier may
// serve a request for a cheaper one. The prices above the edge apply from half of the edge
// on, because the prompt is an estimate. unknown are the terms without a factor, and the parts
// without a price, which add nothing.
func (p *Price) Bound(admitted time.Time, m MaxUse) (nanos int64, unknown Unknown) {
	pico := p.Base.maxCost(m)
	if p.Edge > 0 && cmp.Or(m.Longest, m.Prompt) >= p.Edge/2 {
		pico = max(pico, p.Above.maxCost(m))
	}
	factors, terms := p.Factors.of(m.Terms)
	factors = slices.DeleteFunc(factors, func(factor int64) bool { return factor < 1000 })
	if m.Batch {
		lower, missing := p.Factors.of(token.Batch)
		factors, terms = append(factors, lower...), terms|missing
	}
	if p.Peak.covers(admitted) {
		factors = append(factors, p.Peak.Factor)
	}
	return round(pico, factors), Unknown{terms, p.Base.Unknown & partsOf(m.Searches, m.Units)}
}

// Unknown is what a price lacks for a call.
type Unknown struct {
	Terms token.Terms
	Parts Parts
}

// maxCost returns the cost for the most expensive kinds of tokens, in pico units.
func (r Rates) maxCost(m MaxUse) int64 {
	pico := r.units(m.Units)
	for _, part := range [...]int64{
		product(int64(max(r.Fresh, r.CacheWrite, r.CacheWriteLong, r.OfImages.Input, r.OfAudio.Input)), m.Prompt),
		product(int64(max(r.Answer, r.Reasoning, r.OfImages.Output, r.OfAudio.Output)), m.Answer),
		product(int64(r.Search), m.Searches),
	} {
		pico = saturate(pico, part)
	}
	return pico
}

package prices

import "time"

// Bound returns the most that a call costs, in billionths of the currency's unit: a
// prompt of which nothing is in a cache yet, and an answer of the most expensive kind of
// tokens. Searches and terms other than the standard ones are not included. prompt may be
// an estimate, so the prices beyond the edge hold from half of the edge on.
func (p *Price) Bound(admitted time.Time, prompt, output int64) int64 {
	pico := p.Base.most(prompt, output)
	if p.Edge > 0 && prompt >= p.Edge/2 {
		pico = max(pico, p.Above.most(prompt, output))
	}
	var factors []int64
	if p.Peak.covers(admitted) {
		factors = append(factors, p.Peak.Factor)
	}
	return round(pico, factors)
}

// most returns the price of the most expensive kinds of tokens, in pico units.
func (r Rates) most(prompt, output int64) int64 {
	return saturate(
		product(int64(max(r.Fresh, r.CacheWrite, r.CacheWriteLong)), prompt),
		product(int64(max(r.Output, r.Reasoning)), output),
	)
}

package prices

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Price is what the models of a provider cost, in one currency, for a time. It
// does not change.
type Price struct {
	Provider string
	Models   []string  // names; "*" at the end matches any text
	From     time.Time // the first moment; zero if it is unknown
	Until    time.Time // the first moment after it; zero if it is unknown

	Base  Rates
	Edge  int64 // prompts of this many tokens and more cost Above; 0 for none
	Above Rates
	Peak  Peak // when the price is multiplied

	// Factors multiply the price of calls with terms of their own.
	Factors Factors

	Currency string // "USD"
	AsOf     string // the date of the source, YYYY-MM-DD
	Source   string
	Note     string

	id   string
	name string
}

// Call is what a price is computed for.
type Call struct {
	Admitted time.Time // decides about dates and times of day
	Tokens   Tokens
	Terms    token.Terms
}

// Cost is what a call costs.
type Cost struct {
	Nanos int64 // billionths of the currency's unit
	Long  bool  // the prompt is beyond the edge
	Peak  bool  // the call was admitted in a peak time
}

// Cost returns what a call costs. It is unknown, and ok is false, if the call searched
// and the price of a search is unknown, or if a factor of its terms is unknown.
func (p *Price) Cost(c Call) (cost Cost, ok bool) {
	factors, ok := p.Factors.of(c.Terms)
	if !ok {
		return Cost{}, false
	}
	rates := p.Base
	if cost.Long = p.Edge > 0 && c.Tokens.prompt() >= p.Edge; cost.Long {
		rates = p.Above
	}
	if c.Tokens.Searches > 0 && rates.Search == 0 {
		return Cost{}, false
	}
	if cost.Peak = p.Peak.covers(c.Admitted); cost.Peak {
		factors = append(factors, p.Peak.Factor)
	}
	cost.Nanos = round(rates.sum(c.Tokens), factors)
	return cost, len(factors) <= mostFactors
}

// mostFactors is the number of factors whose product fits round.
const mostFactors = 4

// round multiplies pico units by factors and rounds to nano units, half up.
func round(pico int64, factors []int64) int64 {
	multiplier, divisor := uint64(1), uint64(1000)
	for _, factor := range factors[:min(len(factors), mostFactors)] {
		multiplier *= uint64(factor)
		divisor *= 1000
	}
	high, low := bits.Mul64(uint64(pico), multiplier)
	low, carry := bits.Add64(low, divisor/2, 0)
	high += carry
	if high >= divisor {
		return math.MaxInt64
	}
	nanos, _ := bits.Div64(high, low, divisor)
	return int64(min(nanos, math.MaxInt64))
}

// Name names the price for people, and identifies it: "anthropic claude-opus-5 USD
// 5/25 2026-08-22 #3f0c". The numbers are those of input and output.
func (p *Price) Name() string { return p.name }

// ID identifies the content of the price: 32 hexadecimal digits.
func (p *Price) ID() string { return p.id }

// digest returns the ID.
func (p *Price) digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", *p))
	return hex.EncodeToString(sum[:16])
}

// valid reports whether the price holds at a moment.
func (p *Price) valid(at time.Time) bool {
	return !at.Before(p.From) && (p.Until.IsZero() || at.Before(p.Until))
}

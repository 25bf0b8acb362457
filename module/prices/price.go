package prices

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
	"time"
)

// Price is what the models of a provider cost, in one currency, for a time. It
// does not change.
type Price struct {
	Provider string
	Models   []string  // names; "*" at the end stands for any text
	From     time.Time // the first moment; zero if it is unknown
	Until    time.Time // the first moment after it; zero if it is unknown

	Base  Rates
	Edge  int64 // prompts of this many tokens and more cost Above; 0 for none
	Above Rates
	Peak  Peak // when the price is multiplied

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
	Factors  Factors
}

// Factors multiply the price of a call, such as those of its tier, its speed and
// its region: each in thousandths from 1 to MaxFactor, 500 for half of the price,
// and 0 for none.
type Factors [3]int64

// MaxFactor is the largest factor, in thousandths.
const MaxFactor = 10_000

// Cost is what a call costs.
type Cost struct {
	Nanos int64 // billionths of the currency's unit
	Long  bool  // the prompt is beyond the edge
	Peak  bool  // the call was admitted in a peak time
}

// Cost returns what a call costs. It is not known, and ok is false, if the call
// searched and the price of a search is unknown.
func (p *Price) Cost(c Call) (cost Cost, ok bool) {
	rates := p.Base
	if cost.Long = p.Edge > 0 && c.Tokens.prompt() >= p.Edge; cost.Long {
		rates = p.Above
	}
	if c.Tokens.Searches > 0 && rates.Search == 0 {
		return Cost{}, false
	}
	peak := int64(0)
	if cost.Peak = p.Peak.covers(c.Admitted); cost.Peak {
		peak = p.Peak.Factor
	}
	cost.Nanos = round(rates.sum(c.Tokens), append(c.Factors[:], peak))
	return cost, true
}

// round multiplies pico units by factors and rounds to nano units, half up. Four
// factors fit.
func round(pico int64, factors []int64) int64 {
	multiplier, divisor := uint64(1), uint64(1000)
	for _, factor := range factors {
		if factor > 0 {
			multiplier *= uint64(min(factor, MaxFactor))
			divisor *= 1000
		}
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

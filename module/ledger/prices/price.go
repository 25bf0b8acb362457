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

// Price is the price of some models of a provider, in one currency, for a period of time.
// It must not be changed.
type Price struct {
	Provider string
	Models   []string // names; "*" at the end matches any text
	Period   Period

	Base  Rates
	Edge  int64 // calls with at least this many tokens in the prompt have the price Above; 0 for none
	Above Rates
	Peak  Peak

	// Factors multiply the price of calls with terms of their own.
	Factors Factors

	Currency string // "USD"
	Origin   Origin

	id   string
	name string
}

// Period is the time in which a price is valid.
type Period struct {
	From  time.Time // zero if it is unknown
	Until time.Time // exclusive; zero if it is unknown
}

// contains reports whether a point in time is in the period.
func (p Period) contains(at time.Time) bool {
	return !at.Before(p.From) && (p.Until.IsZero() || at.Before(p.Until))
}

func (p Period) overlaps(q Period) bool {
	return (p.Until.IsZero() || q.From.Before(p.Until)) && (q.Until.IsZero() || p.From.Before(q.Until))
}

// Origin is where a price comes from.
type Origin struct {
	AsOf   string // the date of the source, YYYY-MM-DD
	Source string
	Note   string

	confirmed bool // correct, although it is probably a mistake
	builtin   bool // of the table that is compiled in
}

// Charge contains the properties of a call that determine its cost.
type Charge struct {
	Admitted time.Time // determines the date and the time of day
	Tokens   token.Counts
	Units    *token.Units // nil if they are unknown
	Terms    token.Terms
}

// Cost is the cost of a call.
type Cost struct {
	Nanos  int64 // billionths of the currency's unit
	Long   bool  // the prompt has reached the edge
	Peak   bool  // the call was admitted in a peak time
	InPart bool  // Nanos lacks a part of the call, whose price or number is unknown: it is a lower bound
}

// Cost returns the cost of a call. If a factor that the call needs is unknown, so is the cost of
// each of its parts, and ok is false.
func (p *Price) Cost(c Charge) (cost Cost, ok bool) {
	factors, unknown := p.Factors.of(c.Terms)
	if unknown != 0 {
		return Cost{}, false
	}
	rates := p.Base
	if cost.Long = p.Edge > 0 && c.Tokens.Input() >= p.Edge; cost.Long {
		rates = p.Above
	}
	if cost.Peak = p.Peak.covers(c.Admitted); cost.Peak {
		factors = append(factors, p.Peak.Factor)
	}
	tokens := c.Tokens
	if c.Terms&token.Reserved != 0 {
		tokens = token.Counts{Searches: c.Tokens.Searches}
	}
	var units token.Units
	if c.Units != nil {
		units = *c.Units
	}
	pico := saturate(rates.sum(tokens, &units), rates.units(units))
	cost.InPart = p.Base.Unknown&partsOf(c.Tokens.Searches, units) != 0 || c.Units == nil && rates.UnitRates != (UnitRates{})
	cost.Nanos = round(pico, factors)
	return cost, len(factors) <= maxFactors
}

// maxFactors is the largest number of factors for round: their product fits 64 bits.
const maxFactors = 4

// round multiplies pico units by factors, and rounds the result half up to nano units.
func round(pico int64, factors []int64) int64 {
	multiplier, divisor := uint64(1), uint64(1000)
	for _, factor := range factors[:min(len(factors), maxFactors)] {
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

// CostsAs reports whether all calls cost the same by both prices, either of which may be nil for an
// unknown one. Their sources and dates do not matter.
func (p *Price) CostsAs(q *Price) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Base == q.Base && p.Edge == q.Edge && p.Above == q.Above && p.Peak.Text == q.Peak.Text && p.Peak.Factor == q.Peak.Factor &&
		p.Factors == q.Factors && p.Currency == q.Currency
}

// IsBuiltin reports whether the price is one of the table that is compiled in, and not an
// operator's.
func (p *Price) IsBuiltin() bool { return p.Origin.builtin }

// Name returns a name for people that also identifies the price: "anthropic claude-opus-5
// USD 5/25 2026-08-22 #3f0c91ab". It contains the prices of input and output.
func (p *Price) Name() string { return p.name }

// ID returns 32 hexadecimal digits that identify the content of the price.
func (p *Price) ID() string { return p.id }

// digest returns the ID. The text does not change with the fields of Price: records contain
// IDs of earlier versions.
func (p *Price) digest() string {
	rates := func(r Rates) string {
		return fmt.Sprintf("{Fresh:%d CacheRead:%d CacheWrite:%d CacheWriteLong:%d Output:%d Reasoning:%d Search:%d}",
			r.Fresh, r.CacheRead, r.CacheWrite, r.CacheWriteLong, r.Answer, r.Reasoning, r.Search)
	}
	text := fmt.Appendf(nil,
		"{Provider:%s Models:%v From:%v Until:%v Base:%s Edge:%d Above:%s Peak:%+v Factors:%+v Currency:%s AsOf:%s Source:%s Note:%s id: name:}",
		p.Provider, p.Models, p.Period.From, p.Period.Until, rates(p.Base), p.Edge, rates(p.Above), p.Peak, p.Factors[:identified], p.Currency,
		p.Origin.AsOf, p.Origin.Source, p.Origin.Note)
	if u := p.Base.UnitRates; u != (UnitRates{}) {
		text = fmt.Appendf(text, " Image:%d Minute:%d Character:%d", u.Image, u.Minute, u.Character)
	}
	for _, medium := range [...]struct {
		name  string
		rates MediaRates
	}{{"OfImages", p.Base.OfImages}, {"OfAudio", p.Base.OfAudio}} {
		if i := medium.rates; i != (MediaRates{p.Base.Fresh, p.Base.CacheRead, p.Base.Answer}) {
			text = fmt.Appendf(text, " %s:%d/%d/%d", medium.name, i.Input, i.CacheRead, i.Output)
		}
	}
	if p.Base.Search == 0 && p.Base.Unknown&Searches == 0 {
		text = append(text, " free searches"...)
	}
	if p.Factors[regional] != 0 {
		text = fmt.Appendf(text, " Regional:%d", p.Factors[regional])
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

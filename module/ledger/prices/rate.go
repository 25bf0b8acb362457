package prices

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Rate is the price of one token, or of another unit, in pico units of its currency. A price of
// 3 USD for a million tokens is 3,000,000.
type Rate int64

// The units of decimal prices, in pico units.
const (
	perMillion = 1_000_000         // the price of one token or character, for a price of 1 for a million
	perPiece   = 1_000_000_000_000 // the price of one search, image or minute, for a price of 1
)

// PerMillion returns the price of a million tokens, such as 0.075.
func (r Rate) PerMillion() string { return r.per(perMillion) }

// per returns the price of a unit as a decimal number.
func (r Rate) per(unit int64) string {
	return strconv.FormatFloat(float64(r)/float64(unit), 'f', -1, 64)
}

// Rates are the prices of everything that a call can use.
type Rates struct {
	Fresh          Rate // input that is neither read from a prompt cache nor written to one
	CacheRead      Rate
	CacheWrite     Rate
	CacheWriteLong Rate // for caches with a lifetime of an hour
	Answer         Rate // output without reasoning
	Reasoning      Rate
	Search         Rate // one web search, or one query of a rerank

	OfImages MediaRates // the prices of tokens of images
	OfAudio  MediaRates // and of sound
	UnitRates
	Unknown Parts // whose price is not known; their rates are 0
}

// MediaRates are the prices of tokens of images, or of sound, which are those of all tokens if the model has
// no others.
type MediaRates struct{ Input, CacheRead, Output Rate }

// UnitRates are the prices of units; 0 for those that are not charged.
type UnitRates struct {
	Image     Rate
	Minute    Rate // of sound, charged by the second
	Character Rate
}

// units returns the cost of u in pico units.
func (r Rates) units(u token.Units) (pico int64) {
	const minute = 60
	for _, part := range [...]int64{
		product(int64(r.Search), u.Queries), product(int64(r.Image), u.Images), product(int64(r.Character), u.Characters),
		product(int64(r.Minute), u.Seconds/minute), product(int64(r.Minute), u.Seconds%minute) / minute,
	} {
		pico = saturate(pico, part)
	}
	return pico
}

// sum returns the cost of t in pico units, of which some are tokens of images and of sound.
func (r Rates) sum(t token.Counts, units *token.Units) (pico int64) {
	for _, medium := range [...]struct {
		rates  MediaRates
		tokens token.MediaTokens
	}{{r.OfImages, units.ImageTokens}, {r.OfAudio, units.AudioTokens}} {
		pico = saturate(pico, medium.rates.take(&t, medium.tokens))
	}
	for _, part := range [...]struct {
		rate  Rate
		count int64
	}{
		{r.Fresh, t.Fresh}, {r.CacheRead, t.CacheRead}, {r.CacheWrite, t.CacheWrite}, {r.CacheWriteLong, t.CacheWriteLong},
		{r.Answer, t.Answer}, {r.Reasoning, t.Reasoning}, {r.Search, t.Searches},
	} {
		pico = saturate(pico, product(int64(part.rate), part.count))
	}
	return pico
}

// take takes tokens of a medium out of all tokens, and returns their cost in pico units. Those that the
// provider does not state to have read from a cache count as others as far as possible.
func (r MediaRates) take(t *token.Counts, n token.MediaTokens) (pico int64) {
	input := int64(n.Input)
	cached := min(max(int64(n.CacheRead), input-t.Fresh, 0), t.CacheRead)
	fresh := min(max(input-cached, 0), t.Fresh)
	output := min(max(int64(n.Output), 0), t.Answer)
	t.CacheRead, t.Fresh, t.Answer = t.CacheRead-cached, t.Fresh-fresh, t.Answer-output
	pico = saturate(product(int64(r.Input), fresh), product(int64(r.CacheRead), cached))
	return saturate(pico, product(int64(r.Output), output))
}

// product returns a×b, but at most math.MaxInt64. Negative arguments count as 0.
func product(a, b int64) int64 {
	high, low := bits.Mul64(uint64(max(a, 0)), uint64(max(b, 0)))
	if high != 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// saturate returns a+b, but at most math.MaxInt64. The arguments must not be negative.
func saturate(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

var errDecimal = errors.New("a price is a decimal number from 0 to 1000000 without more than six decimals")

// parseRate parses a decimal number of units.
func parseRate(s string, unit int64) (Rate, error) {
	whole, fraction, _ := strings.Cut(s, ".")
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", max(0, 6-len(fraction))), 10, 63)
	if err != nil || whole == "" || len(whole) > 7 || len(fraction) > 6 || n > 1_000_000*1_000_000 {
		return 0, errDecimal
	}
	return Rate(int64(n) * (unit / 1_000_000)), nil
}

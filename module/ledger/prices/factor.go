package prices

import (
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Factors are the factors by which terms of a call multiply its price, in the order of
// factorColumns. They are in thousandths, from 1 to MaxFactor: 500 is half of the price. 0
// means that the factor is unknown.
type Factors [len(factorColumns)]int64

// MaxFactor is the largest factor, in thousandths.
const MaxFactor = 10_000

// factorColumns are the columns of factors, with their terms.
var factorColumns = [...]struct {
	column string
	term   token.Terms
}{
	{"flex", token.Flex},
	{"batch", token.Batch},
	{"priority", token.Priority},
	{"ultrafast", token.Ultrafast},
	{"fast", token.Fast},
	{"us", token.RegionUS},
	{"regional", token.Regional},
}

// identified is the number of the first factors, which the IDs of all prices contain.
const identified = 6

// regional is the index of the factor of regional endpoints. Most models cost the same there, so
// that it is 1 unless it is stated.
const regional = 6

// of returns the known factors for the terms of a call, and the terms without one. Reserved
// capacity has none, because it is paid by time.
func (f *Factors) of(terms token.Terms) (factors []int64, unknown token.Terms) {
	terms &^= token.Reserved
	if f[regional] == 0 {
		terms &^= token.Regional
	}
	for i, column := range factorColumns {
		if terms&column.term != 0 && f[i] != 0 {
			factors = append(factors, f[i])
			terms &^= column.term
		}
	}
	return factors, terms
}

var errFactor = fmt.Errorf("a factor is a decimal number from 0.001 to %d", MaxFactor/1000)

// factors reads the columns of factors.
func (f *fields) factors() (factors Factors) {
	for i, column := range factorColumns {
		if f.cells[column.column] != "" {
			factors[i] = f.factor(column.column)
		}
	}
	return factors
}

// factor reads a factor in thousandths.
func (f *fields) factor(name string) int64 {
	rate, err := parseRate(f.cells[name], perMillion)
	thousandths := int64(rate) / 1000
	f.check(name, err == nil && thousandths >= 1 && thousandths <= MaxFactor, errFactor)
	return thousandths
}

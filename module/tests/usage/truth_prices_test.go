package usage_test

import (
	"math/big"
	"strings"
)

// usage is what a provider claims to have used in one call. The counts of the input do not
// overlap; reasoning is a part of the output.
type usage struct {
	input, cacheRead, cacheWrite, cacheWriteLong int64
	output, reasoning, searches                  int64

	tier string // "" for the usual one
	fast bool
	us   bool

	further []usage // of further runs, such as a compaction, which the counts leave out
}

// prompt returns all tokens of the input.
func (u usage) prompt() int64 { return u.input + u.cacheRead + u.cacheWrite + u.cacheWriteLong }

// price is a price as the configuration has it.
type price struct{ name, columns string }

// prices are the prices of the models whose names begin with theirs.
var prices = []price{
	{"flat", "input 3 output 15"},
	{"cached", "input 1 cache_read 0.1 cache_write 1.25 cache_write_1h 2 output 8"},
	{"long", "input 1.25 cache_read 0.125 output 10 edge >20000 input_above 2.5 cache_read_above 0.25 output_above 15"},
	{"thinking", "input 0.55 output 2.2 reasoning 4.4 search 0.01"},
	{"tiered", "input 2 output 12 flex 0.5 batch 0.5 priority 2 fast 2.5 us 1.1"},
	{"euro", "input 0.123456 output 1.654321 currency EUR"},
}

// column returns the value of the first of the columns that the price has.
func (p price) column(names ...string) *big.Rat {
	words := strings.Fields(p.columns)
	for _, name := range names {
		for i := 0; i+1 < len(words); i += 2 {
			if words[i] == name {
				value, _ := new(big.Rat).SetString(strings.TrimLeft(words[i+1], ">="))
				return value
			}
		}
	}
	return new(big.Rat)
}

// currency returns the currency of the price.
func (p price) currency() string {
	if _, name, found := strings.Cut(p.columns, "currency "); found {
		return name
	}
	return "USD"
}

// cost returns the cost of one call in millionths of the currency's unit, further runs
// included. Prices are for a million tokens, so a token costs as many millionths as its
// price.
func (p price) cost(u usage) *big.Rat {
	sum := p.costOfRun(u)
	for _, run := range u.further {
		sum.Add(sum, p.costOfRun(run))
	}
	return sum
}

// costOfRun returns the cost of one run of the model.
func (p price) costOfRun(u usage) *big.Rat {
	suffix := ""
	if edge := p.column("edge"); edge.Sign() > 0 && big.NewRat(u.prompt(), 1).Cmp(edge) > 0 {
		suffix = "_above"
	}
	sum := new(big.Rat)
	add := func(count int64, columns ...string) {
		if suffix != "" {
			columns = append([]string{columns[0] + suffix, columns[len(columns)-1] + suffix}, columns...)
		}
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(count, 1), p.column(columns...)))
	}
	add(u.input, "input")
	add(u.cacheRead, "cache_read", "input")
	add(u.cacheWrite, "cache_write", "input")
	add(u.cacheWriteLong, "cache_write_1h", "cache_write", "input")
	add(u.output-u.reasoning, "output")
	add(u.reasoning, "reasoning", "output")
	sum.Add(sum, new(big.Rat).Mul(big.NewRat(u.searches*1_000_000, 1), p.column("search")))
	for name, applies := range map[string]bool{u.tier: u.tier != "", "fast": u.fast, "us": u.us} {
		if applies {
			sum.Mul(sum, p.column(name))
		}
	}
	return sum
}

package prices

import (
	"strconv"
	"time"
)

// Cell is the value of a column of a price.
type Cell struct{ Column, Value string }

// Cells returns the values of a price by column, as in a table. Values that an empty cell has, too,
// are left out.
func (p *Price) Cells() (all []Cell) {
	all = append(rateCells(p.baseRates()), p.termCells()...)
	if p.Edge > 0 {
		all = append(all, Cell{"edge", ">" + strconv.FormatInt(p.Edge-1, 10)})
		all = append(all, rateCells(p.aboveRates())...)
	}
	for _, day := range [...]struct {
		column string
		time   time.Time
	}{{"from", p.Period.From}, {"until", p.Period.Until}} {
		if !day.time.IsZero() {
			all = append(all, Cell{day.column, day.time.Format(time.DateOnly)})
		}
	}
	return append(all, Cell{"currency", p.Currency})
}

// columnRate is the rate in a column, beside the one that an empty cell has.
type columnRate struct {
	column      string
	rate, empty Rate
	unit        int64
}

// stated is the empty rate of a column that is always shown.
const stated Rate = -1

func (p *Price) baseRates() []columnRate {
	r, tokens, search := p.Base, stated, stated
	if r.Unknown&^Searches != 0 { // without input and output, what the price does not name is unknown
		tokens = 0
	}
	if r.Unknown&Searches != 0 {
		search = r.Search
	}
	return []columnRate{
		{"input", r.Fresh, tokens, perMillion},
		{"cache_read", r.CacheRead, r.Fresh, perMillion},
		{"cache_write", r.CacheWrite, r.Fresh, perMillion},
		{"cache_write_1h", r.CacheWriteLong, r.CacheWrite, perMillion},
		{"output", r.Answer, tokens, perMillion},
		{"reasoning", r.Reasoning, r.Answer, perMillion},
		{"image_input", r.OfImages.Input, r.Fresh, perMillion},
		{"image_cache_read", r.OfImages.CacheRead, scaled(r.CacheRead, r.Fresh, r.OfImages.Input), perMillion},
		{"image_output", r.OfImages.Output, r.Answer, perMillion},
		{"audio_input", r.OfAudio.Input, r.Fresh, perMillion},
		{"audio_cache_read", r.OfAudio.CacheRead, scaled(r.CacheRead, r.Fresh, r.OfAudio.Input), perMillion},
		{"audio_output", r.OfAudio.Output, r.Answer, perMillion},
		{"search", r.Search, search, perPiece},
		{"image", r.Image, 0, perPiece},
		{"minute", r.Minute, 0, perPiece},
		{"characters", r.Character, 0, perMillion},
	}
}

func (p *Price) aboveRates() []columnRate {
	base, r := p.Base, p.Above
	return []columnRate{
		{"input_above", r.Fresh, stated, perMillion},
		{"cache_read_above", r.CacheRead, scaled(base.CacheRead, base.Fresh, r.Fresh), perMillion},
		{"cache_write_above", r.CacheWrite, scaled(base.CacheWrite, base.Fresh, r.Fresh), perMillion},
		{"cache_write_1h_above", r.CacheWriteLong, scaled(base.CacheWriteLong, base.CacheWrite, r.CacheWrite), perMillion},
		{"output_above", r.Answer, stated, perMillion},
	}
}

// rateCells returns the cells of rates, without those that are empty.
func rateCells(rates []columnRate) (all []Cell) {
	for _, column := range rates {
		if column.rate != column.empty {
			all = append(all, Cell{column.column, column.rate.per(column.unit)})
		}
	}
	return all
}

// termCells returns the cells of factors.
func (p *Price) termCells() (all []Cell) {
	if p.Peak.Text != "" {
		all = append(all, Cell{"peak", p.Peak.Text}, Cell{"peak_factor", thousandths(p.Peak.Factor)})
	}
	for i, column := range factorColumns {
		if p.Factors[i] != 0 {
			all = append(all, Cell{column.column, thousandths(p.Factors[i])})
		}
	}
	return all
}

func thousandths(n int64) string { return Rate(n).per(1000) }

package prices

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"

// Parts are parts of a call that have prices of their own beside its tokens. Each is a bit.
type Parts uint8

// The parts.
const (
	Searches Parts = 1 << iota
	Images
	Seconds
	Characters
)

// partColumns are the columns of the prices of parts.
var partColumns = [...]struct {
	column string
	part   Parts
}{
	{"search", Searches},
	{"image", Images},
	{"minute", Seconds},
	{"characters", Characters},
}

// Column returns the column of the price of the first part, "" for none.
func (p Parts) Column() string {
	for _, column := range partColumns {
		if p&column.part != 0 {
			return column.column
		}
	}
	return ""
}

// partsOf returns the parts of which a call has some.
func partsOf(searches int64, units token.Units) (parts Parts) {
	for i, n := range [...]int64{searches, units.Images, units.Seconds, units.Characters} {
		if n > 0 {
			parts |= 1 << i
		}
	}
	return parts
}

// unknownParts returns the parts whose price the columns leave open. Searches always have a
// price of their own. Units without one are included in the price of tokens, if there is any.
func (f *fields) unknownParts() (unknown Parts) {
	for _, column := range partColumns {
		if f.cells[column.column] == "" && (column.part == Searches || f.noTokens) {
			unknown |= column.part
		}
	}
	return unknown
}

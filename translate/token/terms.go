package token

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Terms are what an answer reports about its billing beside the counts: properties
// for which providers have another price. The zero Terms are the usual ones.
type Terms uint8

// The terms. Each is a bit.
const (
	Flex      Terms = 1 << iota // service tier: slower, for less
	Batch                       // service tier: within a day, for less
	Priority                    // service tier: sooner, for more
	Ultrafast                   // service tier: soonest, for more
	Fast                        // speed of messages answers
	RegionUS                    // region of messages answers: the United States alone
)

// ReadTier reads a service tier, a raw string of JSON. A value that is no string
// leaves the tier that an earlier event has stated.
func (t *Terms) ReadTier(raw []byte) {
	if raw == nil {
		return
	}
	*t &^= Flex | Batch | Priority | Ultrafast
	switch string(jsonscan.DecodedOf(raw)) {
	case "flex":
		*t |= Flex
	case "batch":
		*t |= Batch
	case "priority", "fast":
		*t |= Priority
	case "ultrafast":
		*t |= Ultrafast
	}
}

// Set sets a term, or removes it, where value is a raw string of JSON: the term holds
// for the text named. A value that is no string leaves the term as it is.
func (t *Terms) Set(term Terms, value []byte, named string) {
	switch {
	case value == nil:
	case string(jsonscan.DecodedOf(value)) == named:
		*t |= term
	default:
		*t &^= term
	}
}

package token

import "cmp"

// Units are what some models are charged for beside tokens, or in place of them.
type Units struct {
	Images     int64
	Seconds    int64 // of sound, begun ones included
	Characters int64 // of the text of speech
}

// The largest plausible units of an answer. One answer with more would exhaust the limit of a key.
const (
	MaxImages  = 1 << 10
	MaxSeconds = 1 << 20
)

// Or returns the units of u, and those of other of which u has none.
func (u Units) Or(other Units) Units {
	return Units{cmp.Or(u.Images, other.Images), cmp.Or(u.Seconds, other.Seconds), cmp.Or(u.Characters, other.Characters)}
}

// AtLeast returns the greater number of each unit.
func (u Units) AtLeast(other Units) Units {
	return Units{max(u.Images, other.Images), max(u.Seconds, other.Seconds), max(u.Characters, other.Characters)}
}

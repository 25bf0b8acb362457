package trait

import "math/bits"

// Efforts is a set of values of reasoning_effort.
type Efforts uint8

// The values, in ascending order.
const (
	EffortNone Efforts = 1 << iota
	EffortMinimal
	EffortLow
	EffortMedium
	EffortHigh
	EffortXHigh
	EffortMax

	EffortAll Efforts = 1<<iota - 1
	// EffortOff marks a set that is empty because the operator configured none.
	EffortOff = EffortAll + 1
)

var effortWords = [...]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// EffortOf returns the set that contains only word, or an empty set if word is unknown.
func EffortOf(word string) Efforts {
	for i, w := range effortWords {
		if w == word {
			return 1 << i
		}
	}
	return 0
}

// Has reports whether e contains effort, a set of one value.
func (e Efforts) Has(effort Efforts) bool { return effort != 0 && e&effort == effort }

// Nearest returns the value of e that is nearest to effort: effort itself, else the next lower
// one, else the next higher one. None of the others stands for EffortNone, nor that for them:
// Nearest then returns an empty set.
func (e Efforts) Nearest(effort Efforts) Efforts {
	thinking := e & EffortAll &^ EffortNone
	switch lower := thinking & (effort - 1); {
	case e.Has(effort):
		return effort
	case effort == EffortNone, thinking == 0:
		return 0
	case lower != 0:
		return 1 << (bits.Len8(uint8(lower)) - 1)
	default:
		return thinking & -thinking
	}
}

// String returns the word of e, a set of one value.
func (e Efforts) String() string {
	for i, w := range effortWords {
		if e == 1<<i {
			return w
		}
	}
	return ""
}

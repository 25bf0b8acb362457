package trait

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

// String returns the word of e, a set of one value.
func (e Efforts) String() string {
	for i, w := range effortWords {
		if e == 1<<i {
			return w
		}
	}
	return ""
}

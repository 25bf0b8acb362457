package trait

// Efforts is a set of the words of reasoning_effort.
type Efforts uint8

// The words, the least effort first.
const (
	EffortNone Efforts = 1 << iota
	EffortMinimal
	EffortLow
	EffortMedium
	EffortHigh
	EffortXHigh
	EffortMax

	EffortAll Efforts = 1<<iota - 1
	// EffortOff is in sets of no word where that was said, and not left open.
	EffortOff = EffortAll + 1
)

var effortWords = [...]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// EffortOf returns the set of one word, empty for a word that is none.
func EffortOf(word string) Efforts {
	for i, w := range effortWords {
		if w == word {
			return 1 << i
		}
	}
	return 0
}

// Has reports whether e holds the effort, which is one word.
func (e Efforts) Has(effort Efforts) bool { return effort != 0 && e&effort == effort }

// String returns the word of a set of one.
func (e Efforts) String() string {
	for i, w := range effortWords {
		if e == 1<<i {
			return w
		}
	}
	return ""
}

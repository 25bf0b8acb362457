package translate

// LossClass says what the loss of a field means (wire format 0.2).
type LossClass uint8

// The classes. What is structural is never lost: it is refused.
const (
	Hint    LossClass = iota // affects cost, caching, routing or accounting, never the text asked for
	Shaping                  // changes sampling or effort, but not the shape of the answer
)

// Loss is a field of a request that could not be carried over as it was.
type Loss struct {
	Path  string // in the client's notation, "*" for every index: messages.*.content.*.cache_control
	Class LossClass
}

// Losses collects losses in the order in which they were found, each once.
type Losses []Loss

// Add notes a loss, once.
func (l *Losses) Add(class LossClass, path string) {
	for i := range *l {
		if (*l)[i].Path == path {
			return
		}
	}
	*l = append(*l, Loss{path, class})
}

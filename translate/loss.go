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

// Losses collects losses in the order in which they were found, each once, and
// at most maxLosses of them: a body of nothing but unknown fields must not
// cost more than any other.
type Losses []Loss

const (
	// maxLosses is more than any report shows.
	maxLosses = 256
	// maxLossName is the longest name of an unknown field that is repeated.
	maxLossName = 64
	// oddName stands for names that do not belong into a header or a log.
	oddName = "?"
)

// Add notes a loss, once.
func (l *Losses) Add(class LossClass, path string) { l.AddIn(class, path, "") }

// AddIn notes the loss of a member; prefix is the path of the object that has
// it, with its last dot.
func (l *Losses) AddIn(class LossClass, prefix, name string) {
	if len(*l) == maxLosses {
		return
	}
	for i := range *l {
		if (*l)[i].is(prefix, name) {
			return
		}
	}
	*l = append(*l, Loss{prefix + name, class})
}

// AddNamed is AddIn for a member that the client may have named as it likes.
func (l *Losses) AddNamed(class LossClass, prefix string, name []byte) {
	if len(name) > maxLossName || !PlainName(name) {
		l.AddIn(class, prefix, oddName)
		return
	}
	l.AddIn(class, prefix, string(name))
}

func (l *Loss) is(prefix, name string) bool {
	return len(l.Path) == len(prefix)+len(name) && l.Path[:len(prefix)] == prefix && l.Path[len(prefix):] == name
}

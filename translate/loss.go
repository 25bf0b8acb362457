package translate

import (
	"strconv"
	"strings"
)

// LossClass says what the loss of a field means (wire format 0.2).
type LossClass uint8

// The classes. What of a request is structural is never lost: it is refused.
const (
	Hint     LossClass = iota // affects cost, caching, routing or accounting, never the text asked for
	Shaping                   // changes sampling or effort, but not the shape of the answer
	OfAnswer                  // a part of the answer that the client's format has no place for
)

// String is the class in one word, for metrics: "hint", "shaping" or "answer".
func (c LossClass) String() string { return [...]string{"hint", "shaping", "answer"}[c] }

// Loss is a field that could not be carried over as it was.
type Loss struct {
	// Path is that of the field in the notation of whoever sent it, the client
	// or, for answers, the provider, with "*" for every index:
	// messages.*.content.*.cache_control, choices[*].message.annotations.
	Path  string
	Class LossClass
}

// Losses collects losses in the order in which they were found, each once, and
// at most maxLosses of them: a body of nothing but unknown fields must not
// cost more than any other.
type Losses []Loss

const (
	// maxLosses is more than any report shows: so many names, however short,
	// fill more than maxReport.
	maxLosses = 512
	// maxReport is the longest report, in bytes.
	maxReport = 1024
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

// String is the report of the losses: their paths with commas between, as many
// of them as fit into 1024 bytes, and then "+" and the number of those left out.
func (l Losses) String() string {
	const more = len(",+512")
	var report strings.Builder
	comma := ""
	for i := range l {
		room := maxReport - report.Len() - len(comma)
		if i < len(l)-1 {
			room -= more
		}
		if len(l[i].Path) > room {
			report.WriteString(comma + "+" + strconv.Itoa(len(l)-i))
			break
		}
		report.WriteString(comma + l[i].Path)
		comma = ","
	}
	return report.String()
}

// Dropped collects what of an answer has no place in the client's format. The
// parsers and the emitters of answers embed it; it costs nothing while nothing
// is dropped.
type Dropped struct{ losses Losses }

// Drop notes a part of the answer that is left out, once. The path is one of
// this repository's own words, never text that a provider chose.
func (d *Dropped) Drop(path string) { d.losses.Add(OfAnswer, path) }

// Losses are what was dropped so far.
func (d *Dropped) Losses() Losses { return d.losses }

package translate

import (
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
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
	// Foreign says that a provider chose the last name of Path, so that there may
	// be any number of such paths. Names from clients are not marked.
	Foreign bool
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
	// maxForeign is how many names that a provider chose are repeated, of one answer.
	maxForeign = 32
	// oddName stands for names that do not belong into a header or a log, noName
	// for one that is empty.
	oddName = "?"
	noName  = `""`
)

// Add notes a loss, once.
func (l *Losses) Add(class LossClass, path string) { l.AddIn(class, path, "") }

// AddIn notes the loss of a member; prefix is the path of the object that has
// it, with its last dot.
func (l *Losses) AddIn(class LossClass, prefix, name string) { l.add(class, prefix, name, false) }

// AddNamed is AddIn for a member that the client may have named as it likes.
func (l *Losses) AddNamed(class LossClass, prefix string, name []byte) {
	switch {
	case len(*l) == maxLosses:
	case len(name) == 0:
		l.AddIn(class, prefix, noName)
	case !MemberLike(name):
		l.AddIn(class, prefix, oddName)
	case !l.has(prefix, name): // asked first: most are found again, which costs no memory
		l.AddIn(class, prefix, string(name))
	}
}

// AddPath is Add for a path that need not last.
func (l *Losses) AddPath(class LossClass, path []byte) {
	if len(*l) < maxLosses && !l.has("", path) {
		*l = append(*l, Loss{Path: string(path), Class: class})
	}
}

// AddMember is AddNamed for a prefix that need not last.
func (l *Losses) AddMember(class LossClass, prefix, name []byte) {
	switch {
	case len(*l) == maxLosses:
	case len(name) == 0:
		l.AddPath(class, append(prefix, noName...))
	case !MemberLike(name):
		l.AddPath(class, append(prefix, oddName...))
	default:
		l.AddPath(class, append(prefix, name...))
	}
}

// AddAll notes all losses of another list.
func (l *Losses) AddAll(others Losses) {
	for _, loss := range others {
		l.add(loss.Class, "", loss.Path, loss.Foreign)
	}
}

func (l *Losses) add(class LossClass, prefix, name string, foreign bool) {
	if len(*l) < maxLosses && !l.has(prefix, []byte(name)) {
		*l = append(*l, Loss{prefix + name, class, foreign})
	}
}

func (l *Losses) has(prefix string, name []byte) bool {
	for i := range *l {
		if (*l)[i].is(prefix, name) {
			return true
		}
	}
	return false
}

func (l *Loss) is(prefix string, name []byte) bool {
	return len(l.Path) == len(prefix)+len(name) && l.Path[:len(prefix)] == prefix && l.Path[len(prefix):] == string(name)
}

// String is the report of the losses: their paths with commas between, as many
// of them as fit into 1024 bytes, and then "+" and the number of those left out.
// Of 512 losses, beyond which none is noted, there may be more: "+450 or more".
func (l Losses) String() string {
	uncounted := ""
	if len(l) == maxLosses {
		uncounted = " or more"
	}
	more := len(",+512") + len(uncounted)
	var report strings.Builder
	comma := ""
	for i := range l {
		room := maxReport - report.Len() - len(comma)
		if i < len(l)-1 {
			room -= more
		}
		if len(l[i].Path) > room {
			report.WriteString(comma + "+" + strconv.Itoa(len(l)-i) + uncounted)
			break
		}
		report.WriteString(comma + l[i].Path)
		comma = ","
	}
	return report.String()
}

// Dropped collects what of an answer has no place in the client's format. The
// parsers and the emitters of answers embed it; it costs nothing while nothing
// is dropped, and little however much is: of the names that a provider chose 32
// are repeated, if they look like names of members, and "?" stands for all others.
type Dropped struct {
	losses  Losses
	foreign int // names that the provider chose
}

// Drop notes a part of the answer that is left out, once. The path is one of
// this repository's own words, never text that a provider chose.
func (d *Dropped) Drop(path string) { d.losses.Add(OfAnswer, path) }

// DropNamed notes a part of the answer that the provider named as it liked;
// prefix is the path of what it belongs to, with its last dot.
func (d *Dropped) DropNamed(prefix string, name []byte) {
	switch {
	case len(name) == 0:
		d.losses.AddIn(OfAnswer, prefix, noName)
	case !MemberLike(name) || d.foreign == maxForeign && !d.losses.has(prefix, name):
		d.losses.AddIn(OfAnswer, prefix, oddName)
	case !d.losses.has(prefix, name):
		d.foreign++
		d.losses.add(OfAnswer, prefix, string(name), true)
	}
}

// DropMember skips the value of the cursor's member, which is left out. It is
// noted unless it says nothing.
func (d *Dropped) DropMember(prefix string, c *jsonscan.Cursor) {
	name := c.Name()
	d.DropValue(prefix, name, c.Skip())
}

// DropValue notes a member with a raw value that is left out, unless that says
// nothing.
func (d *Dropped) DropValue(prefix string, name, raw []byte) {
	if !jsonscan.Blank(raw) {
		d.DropNamed(prefix, name)
	}
}

// Losses are what was dropped so far.
func (d *Dropped) Losses() Losses { return d.losses }

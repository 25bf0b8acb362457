package translate

import (
	"strconv"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// LossClass is the class of a loss (wire format 0.2).
type LossClass uint8

// The classes. A structural field of a request is never lost but refused.
const (
	Hint     LossClass = iota // affects cost, caching, routing or accounting, never the text asked for
	Shaping                   // changes sampling or effort, but not the shape of the answer
	OfAnswer                  // a part of the answer that the client's format has no place for
)

// String is the class in one word, for metrics: "hint", "shaping" or "answer".
func (c LossClass) String() string { return [...]string{"hint", "shaping", "answer"}[c] }

// Loss is a field that could not be carried over as it was.
type Loss struct {
	// Path is the path of the field in the notation of its sender, the client or, for
	// answers, the provider, with "*" for every index:
	// messages.*.content.*.cache_control, choices[*].message.annotations.
	Path  string
	Class LossClass
	// Foreign is true if a client or a provider chose the last name of Path, so that the
	// number of such paths is unbounded.
	Foreign bool
	// Content is true for a part of an answer that takes the place of its text: an
	// image, or the call of a tool of the provider.
	Content bool
}

// Name returns the name of the loss for metrics, logs and records, which must have a bounded
// number of names: the path, where "?" replaces a foreign name, and without the word that is the
// value of a member of an answer.
func (l Loss) Name() string {
	member, _, isValue := strings.Cut(l.Path, "=")
	switch {
	case l.Class == OfAnswer && isValue:
		return member
	case l.Foreign:
		return l.Path[:strings.LastIndexByte(l.Path, '.')+1] + oddName
	}
	return l.Path
}

// Losses are losses in the order in which they were found, each once, and at most
// maxLosses of them: a body of unknown fields must not cost more than others.
type Losses []Loss

const (
	// maxLosses is more than any report shows: so many names, however short,
	// fill more than maxReport.
	maxLosses = 512
	// maxReport is the longest report, in bytes.
	maxReport = 1024
	// maxForeign bounds the names of one answer that a provider chose and that are
	// repeated.
	maxForeign = 32
	// maxNamed bounds the names that Content returns.
	maxNamed = 4
	// oddName replaces names that must not be in a header or a log, noName an empty
	// one.
	oddName = "?"
	noName  = `""`
)

// Add adds a loss, once.
func (l *Losses) Add(class LossClass, path string) { l.AddIn(class, path, "") }

// AddIn adds the loss of a member. prefix is the path of its object, with the last
// dot.
func (l *Losses) AddIn(class LossClass, prefix, name string) { l.add(class, prefix, name, false) }

// AddNamed is AddIn for a member with a name that the client chose.
func (l *Losses) AddNamed(class LossClass, prefix string, name []byte) {
	switch {
	case len(*l) == maxLosses:
	case len(name) == 0:
		l.AddIn(class, prefix, noName)
	case !MemberLike(name):
		l.AddIn(class, prefix, oddName)
	case !l.has(prefix, name): // most losses are found again, which allocates nothing
		l.add(class, prefix, string(name), true)
	}
}

// AddPath is Add for a path whose memory may be reused.
func (l *Losses) AddPath(class LossClass, path []byte) { l.addPath(class, path, false) }

// AddMember is AddNamed for a prefix whose memory may be reused.
func (l *Losses) AddMember(class LossClass, prefix, name []byte) {
	switch {
	case len(*l) == maxLosses:
	case len(name) == 0:
		l.AddPath(class, append(prefix, noName...))
	case !MemberLike(name):
		l.AddPath(class, append(prefix, oddName...))
	default:
		l.addPath(class, append(prefix, name...), true)
	}
}

func (l *Losses) addPath(class LossClass, path []byte, foreign bool) {
	if len(*l) < maxLosses && !l.has("", path) {
		*l = append(*l, Loss{Path: string(path), Class: class, Foreign: foreign})
	}
}

// AddAll adds all losses of another list.
func (l *Losses) AddAll(others Losses) { l.AddBelow("", others) }

// AddBelow is AddAll for losses whose paths begin at a value with the path prefix.
func (l *Losses) AddBelow(prefix string, others Losses) {
	for _, loss := range others {
		l.add(loss.Class, prefix, loss.Path, loss.Foreign)
		if loss.Content {
			l.mark(prefix + loss.Path)
		}
	}
}

// mark marks a loss as content.
func (l *Losses) mark(path string) {
	for i := range *l {
		(*l)[i].Content = (*l)[i].Content || (*l)[i].Path == path
	}
}

// Content returns the names of the losses of content, with commas between; "" for none.
func (l Losses) Content() string {
	var names []string
	for i := range l {
		if l[i].Content {
			name := l[i].Path[strings.LastIndexByte(l[i].Path, '.')+1:]
			names = append(names, name[strings.IndexByte(name, '=')+1:])
		}
	}
	return strings.Join(names[:min(len(names), maxNamed)], ", ")
}

func (l *Losses) add(class LossClass, prefix, name string, foreign bool) {
	if len(*l) < maxLosses && !l.has(prefix, []byte(name)) {
		*l = append(*l, Loss{Path: prefix + name, Class: class, Foreign: foreign})
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

// foreign returns the number of names that a client or a provider chose.
func (l Losses) foreign() (n int) {
	for i := range l {
		if l[i].Foreign {
			n++
		}
	}
	return n
}

func (l *Loss) is(prefix string, name []byte) bool {
	return len(l.Path) == len(prefix)+len(name) && l.Path[:len(prefix)] == prefix && l.Path[len(prefix):] == string(name)
}

// String returns the paths with commas between, as many as fit into 1024 bytes, and
// then "+" and the number of the others: "+450 or more" if the list is full.
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

// Dropped collects the parts of an answer that the client's format cannot express.
// Parsers and emitters embed it. It costs nothing until a part is dropped, and its size
// is bounded: at most 32 names that a provider chose are repeated, if they look like
// names of members, and "?" replaces all others.
type Dropped struct{ losses Losses }

// Drop adds a part of the answer that is left out, once. The path is a constant, never
// text that a provider chose.
func (d *Dropped) Drop(path string) { d.losses.Add(OfAnswer, path) }

// Lose reports a raw value as dropped, unless it is nil.
func (d *Dropped) Lose(path string, raw []byte) {
	if raw != nil {
		d.Drop(path)
	}
}

// DropNamed is Drop for a part with a name that the provider chose. prefix is the path
// of its object, with the last dot.
func (d *Dropped) DropNamed(prefix string, name []byte) {
	switch {
	case len(name) == 0:
		d.losses.AddIn(OfAnswer, prefix, noName)
	case !MemberLike(name):
		d.losses.AddIn(OfAnswer, prefix, oddName)
	case d.losses.has(prefix, name): // most losses are found again
	case d.losses.foreign() == maxForeign:
		d.losses.AddIn(OfAnswer, prefix, oddName)
	default:
		d.losses.add(OfAnswer, prefix, string(name), true)
	}
}

// DropContent is Drop for a part of the content.
func (d *Dropped) DropContent(path string) {
	d.Drop(path)
	d.losses.mark(path)
}

// DropContentNamed is DropNamed for a part of the content.
func (d *Dropped) DropContentNamed(prefix string, name []byte) {
	d.DropNamed(prefix, name)
	switch {
	case len(name) == 0:
		name = []byte(noName)
	case !d.losses.has(prefix, name):
		name = []byte(oddName)
	}
	d.losses.mark(prefix + string(name))
}

// DropMember skips the value of the cursor's member, which is left out. A blank value
// is no loss.
func (d *Dropped) DropMember(prefix string, c *jsonscan.Cursor) {
	name := c.Name()
	d.DropValue(prefix, name, c.Skip())
}

// DropValue is DropMember for a name and a raw value.
func (d *Dropped) DropValue(prefix string, name, raw []byte) {
	if !jsonscan.Blank(raw) {
		d.DropNamed(prefix, name)
	}
}

// Losses returns the parts dropped so far.
func (d *Dropped) Losses() Losses { return d.losses }

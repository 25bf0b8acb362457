package jsonscan

import (
	"bytes"
	"slices"
)

// MaxHoles is how many values may differ between the documents of a Template.
const MaxHoles = 3

// maxHoleDepth is how many containers may be open at once in an object that is a hole.
const maxHoleDepth = 8

// Slot is the position of a value in a document. The zero Slot is no position.
type Slot struct{ Start, End int }

// Template recognises documents that are the same but for a few strings, numbers and
// objects, its holes. Most events of a stream differ from the one before only in
// a text, a number and some padding: when all bytes around the holes are the
// same, and each hole has one valid value again, there is nothing else to read.
// Repeated names in objects are not detected. The zero Template recognises nothing.
type Template struct {
	fixed []byte         // the bytes around the holes
	holes [MaxHoles]hole // in the order of the document
	count int            // of holes, 0 while nothing is recognised
	lines bool           // the documents may have line breaks
}

// hole is a value that may differ.
type hole struct {
	offset int  // where in the fixed bytes
	nth    int  // which of the slots that Learn was given
	kind   Kind // String, Number or Object
}

// Value is the value of a hole in one document.
type Value struct {
	Raw   []byte
	Plain bool // Raw is a string of ASCII without escapes
}

// Learn makes the Template recognise documents that are equal to a valid one except for
// the values at the slots. A zero Slot is ignored; any other must span a string, a
// number or an object. Without such a slot, the Template recognises nothing.
func (t *Template) Learn(document []byte, slots [MaxHoles]Slot) {
	t.count = 0
	t.lines = bytes.IndexByte(document, '\n') >= 0 || bytes.IndexByte(document, '\r') >= 0
	size, start := len(document), 0
	for _, at := range slots {
		size -= at.End - at.Start
	}
	t.fixed = slices.Grow(t.fixed[:0], size)
	for range slots {
		nth := nextSlot(&slots, start)
		if nth < 0 {
			break
		}
		slot := slots[nth]
		t.fixed = append(t.fixed, document[start:slot.Start]...)
		t.holes[t.count] = hole{len(t.fixed), nth, kinds[document[slot.Start]]}
		t.lines = t.lines || document[slot.Start] == '{'
		t.count++
		start = slot.End
	}
	t.fixed = append(t.fixed, document[start:]...)
}

// nextSlot returns the first of the slots that begin at an offset or behind it,
// -1 for none.
func nextSlot(slots *[MaxHoles]Slot, start int) int {
	next := -1
	for i, s := range slots {
		if s.End > start && (next < 0 || s.Start < slots[next].Start) {
			next = i
		}
	}
	return next
}

// Forget makes the Template recognise nothing.
func (t *Template) Forget() { t.count = 0 }

// Match reports whether a document is like the learned one, and returns its values in the
// order of the slots passed to Learn.
func (t *Template) Match(document []byte) (values [MaxHoles]Value, ok bool) {
	size := t.match(document, &values)
	return values, size > 0 && size == len(document)
}

// MatchLine is Match for the document at the beginning of a text, whose size it returns, 0
// if the document does not match. It recognises no document that may have line breaks.
func (t *Template) MatchLine(text []byte) (values [MaxHoles]Value, size int) {
	if !t.lines {
		size = t.match(text, &values)
	}
	return values, size
}

// match sets the values of the document at the beginning of a text, and returns its size, 0
// if it is not like the learned one.
func (t *Template) match(text []byte, values *[MaxHoles]Value) (size int) {
	if t.count == 0 {
		return 0
	}
	rest, start := text, 0
	for i := range t.count {
		hole := &t.holes[i]
		var ok bool
		if rest, ok = bytes.CutPrefix(rest, t.fixed[start:hole.offset]); !ok {
			return 0
		}
		v := hole.value(rest)
		if v.Raw == nil {
			return 0
		}
		values[hole.nth], rest, start = v, rest[len(v.Raw):], hole.offset
	}
	rest, ok := bytes.CutPrefix(rest, t.fixed[start:])
	if !ok {
		return 0
	}
	return len(text) - len(rest)
}

// value returns the value that the bytes begin with, the zero Value if that is not a valid
// one of the hole's kind.
func (h *hole) value(data []byte) Value {
	if len(data) == 0 || kinds[data[0]] != h.kind {
		return Value{}
	}
	var end int
	var reason string
	switch h.kind {
	case String:
		if end = plainStringEnd(data, 0); end > 0 { // nearly always
			return Value{Raw: data[:end:end], Plain: true}
		}
		end, _, reason = stringEnd(data, 0)
	case Number:
		end, reason = numberEnd(data, 0)
	default:
		end, reason = valueEnd(data, 0, maxHoleDepth)
	}
	if reason != "" || utf8End(data[:end]) < end {
		return Value{}
	}
	return Value{Raw: data[:end:end]}
}

package jsonscan

import "slices"

// Texts are the long strings of a document that a cursor has read, in their order, and the arrays
// of NoteArray. A cursor that reads the document again does not search for their ends: most of a
// request is long strings. Strings in values that were skipped as a whole are not among them.
type Texts []extent

// extent is the position of a string with its quotes, or of an array with its brackets. A document
// has less than 4 GiB.
type extent struct{ start, end uint32 }

// longText is the length, in bytes, from which a string is among Texts.
const longText = 128

// Texts returns the noted strings.
func (c *Cursor) Texts() Texts { return c.strings.texts }

// Size returns the size in bytes of the strings that are at least as long as least.
func (t Texts) Size(least int) (size int) {
	for _, text := range t {
		if length := int(text.end - text.start); length >= least {
			size += length
		}
	}
	return size
}

// NoteArray notes the array from start to the cursor, which a later reader may have to skip before
// it knows how to read it.
func (c *Cursor) NoteArray(start int) {
	if s := &c.strings; s.noting {
		s.texts = slices.Insert(s.texts.room(c.at.data), s.texts.from(start, len(s.texts)), extent{uint32(start), uint32(c.at.pos)})
	}
}

// room returns the texts with memory for those of a document.
func (t Texts) room(document []byte) Texts {
	if t == nil {
		t = make(Texts, 0, 8+len(document)/512)
	}
	return t
}

// from returns the index of the first text that does not begin before start, which is among those in
// front of last: a cursor looks for what it has just read.
func (t Texts) from(start, last int) int {
	for last > 0 && int(t[last-1].start) >= start {
		last--
	}
	return last
}

// Again is the function Again for the document whose strings these are.
func (t Texts) Again(document []byte) Cursor {
	return Cursor{
		at:      position{data: document, pos: markEnd(document)},
		name:    memberName{unchecked: true},
		strings: stringEnder{valid: true, texts: t, document: t},
	}
}

// Revisit makes c, which is large and therefore reused, a cursor at a value that other has skipped in
// a document that is read again. The offsets of c are those of other.
func (c *Cursor) Revisit(other *Cursor, value Slot) {
	c.at.data, c.at.pos, c.at.depth, c.at.phase, c.at.err = other.at.data[:value.End], value.Start, 0, due, nil
	c.name.unchecked = true
	all, s := other.strings.document, &c.strings
	s.valid, s.noting, s.document = true, false, all
	s.texts = all[all.from(value.Start, len(all)-len(other.strings.texts)):]
}

// textEnd is knownStringEnd, but does not search for the end of a string that is among the texts. t
// are those that may follow. None of them is short.
func (t *Texts) textEnd(data []byte, i int) (end int, reason string) {
	if end = shortEnd(data, i); end > 0 {
		return end, ""
	}
	if end = t.noted(data, i); end > 0 {
		return end, ""
	}
	return longEnd(data, i)
}

// noted returns the end of the string or the array at i if it is among the texts, else 0.
func (t *Texts) noted(data []byte, i int) (end int) {
	for len(*t) > 0 && int((*t)[0].start) < i {
		*t = (*t)[1:]
	}
	if len(*t) > 0 && int((*t)[0].start) == i && int((*t)[0].end) <= len(data) {
		return int((*t)[0].end)
	}
	return 0
}

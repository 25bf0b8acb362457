package jsonscan

import "slices"

// Texts are the long strings of a document that a cursor has read, in their order. A cursor
// that reads the document again does not search for their ends: most of a request is long
// strings. Strings in values that were skipped as a whole are not among them.
type Texts []extent

// extent is the position of a string with its quotes. A document has less than 4 GiB.
type extent struct{ start, end uint32 }

// longText is the length, in bytes, from which a string is among Texts.
const longText = 128

// NoteTexts makes the cursor note the long strings that it reads, for Texts. It must be
// called before anything is read.
func (c *Cursor) NoteTexts() { c.noting = true }

// Texts returns the noted strings.
func (c *Cursor) Texts() Texts { return c.texts }

// noteText notes a string.
func (c *Cursor) noteText(start, end int) {
	if !c.noting || end-start < longText {
		return
	}
	if c.texts == nil {
		c.texts = make(Texts, 0, 8+len(c.data)/512)
	}
	c.texts = append(c.texts, extent{uint32(start), uint32(end)})
}

// Again is the function Again for the document whose strings these are.
func (t Texts) Again(document []byte) Cursor {
	return Cursor{data: document, valid: true, unnamed: true, pos: markEnd(document), document: t, texts: t}
}

// At returns a cursor at a value that c has skipped in a document that is read again. The
// offsets of the cursor are those of c.
func (c *Cursor) At(value Slot) Cursor {
	first, _ := slices.BinarySearchFunc(c.document, value.Start, func(e extent, start int) int { return int(e.start) - start })
	return Cursor{
		data: c.data[:value.End], pos: value.Start, valid: true, unnamed: c.unnamed,
		document: c.document, texts: c.document[first:],
	}
}

// textEnd is knownStringEnd, which it calls for a string that is not among the texts. t are
// those that may follow.
func (t *Texts) textEnd(data []byte, i int) (end int, reason string) {
	for len(*t) > 0 && int((*t)[0].start) < i {
		*t = (*t)[1:]
	}
	if len(*t) > 0 && int((*t)[0].start) == i && int((*t)[0].end) <= len(data) {
		return int((*t)[0].end), ""
	}
	return knownStringEnd(data, i)
}

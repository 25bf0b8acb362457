package jsonscan

import (
	"bytes"
	"math"
)

// MaxDepth is the number of containers that may be open at once.
const MaxDepth = 200

// phase is the kind of token that may come next.
type phase uint8

const (
	due    phase = iota // a value
	passed              // a value of another kind than the container, already consumed
	fresh               // the first member or element of a container, or its end
	done                // the comma after a value, or the end of the container or the document
)

// Cursor reads one JSON document from its beginning to its end. New returns one. A Cursor
// is not safe for concurrent use. After the first error every method returns a zero
// value, and Err returns the error, so that callers may check it once, at the end.
//
// A copy of a cursor can read ahead of the original.
type Cursor struct {
	data        []byte
	pos         int
	depth       int
	memberStart int
	objectEnd   int
	phase       phase
	valid       bool // the document has been read to its end before
	unnamed     bool // repeated names are not detected
	err         error
	name        []byte // the member's name, decoded
	nameHash    uint32 // of the name; 0 if repeated names are not detected
	nameBuf     []byte // memory of names with escapes
	textBuf     []byte // memory of texts with escapes
	names       names
	noting      bool  // long strings are noted
	texts       Texts // the long strings that were noted; of a document that is read again, those that may follow
	document    Texts // of a document that is read again, all of them
}

// New returns a cursor at the value of the document, which must not change while the
// cursor or a slice from it is in use. Invalid UTF-8 anywhere in the document is an error
// from the beginning, and so is a document of 4 GiB or more.
func New(data []byte) Cursor {
	// Short enough to be inlined, so that the cursor is built where it is kept.
	start, err := examine(data)
	return Cursor{data: data, pos: start, err: err}
}

// Init prepares a zero cursor at the value of a document, as New does. It copies no cursor,
// which is large.
func (c *Cursor) Init(data []byte) {
	c.data = data
	c.pos, c.err = examine(data)
}

// Again returns a cursor at a document, or at a value of one, that another cursor has
// read to its end without an error. The new cursor does not repeat the checks of texts,
// repeated names and skipped values. It may misread a document that was never checked,
// but never reads beyond its end.
func Again(data []byte) Cursor {
	return Cursor{data: data, valid: true, unnamed: true, pos: markEnd(data)}
}

// Skipped is Again for a value that the other cursor has skipped, and therefore has not
// searched for repeated names.
func Skipped(data []byte) Cursor {
	return Cursor{data: data, valid: true, pos: markEnd(data)}
}

// Within is Skipped for the value at a slot of a document. The offsets of the cursor are
// those in the document.
func Within(document []byte, slot Slot) Cursor {
	return Cursor{data: document[:slot.End], valid: true, pos: slot.Start}
}

// markEnd returns the end of the byte order mark, 0 without one.
func markEnd(data []byte) int {
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}

// examine checks the bytes of a document, and returns the offset where the value may
// begin.
func examine(data []byte) (start int, err error) {
	if uint64(len(data)) > math.MaxUint32 {
		return 0, &SyntaxError{Reason: whyLength}
	}
	if end := utf8End(data); end < len(data) {
		return 0, &SyntaxError{Offset: end, Reason: whyUTF8}
	}
	return markEnd(data), nil
}

// Err returns the first error: a *SyntaxError, a *DuplicateError, or an error of
// the calling code.
func (c *Cursor) Err() error { return c.err }

// Document returns the document that the cursor reads.
func (c *Cursor) Document() []byte { return c.data }

// Depth returns the number of open containers.
func (c *Cursor) Depth() int { return c.depth }

// Offset returns the offset of the value at the cursor, or of the first byte that was not
// consumed.
func (c *Cursor) Offset() int {
	if c.phase == due {
		c.space()
	}
	return c.pos
}

// Kind returns the kind of the value at the cursor by its first byte, without consuming
// the value. If there is no value, Kind returns Invalid, and Err an error.
func (c *Cursor) Kind() Kind {
	if c.err != nil {
		return Invalid
	}
	if c.phase != due {
		c.err = errMisuse
		return Invalid
	}
	if c.pos < len(c.data) {
		if kind := kinds[c.data[c.pos]]; kind != Invalid { // nearly always without white space
			return kind
		}
	}
	c.space()
	if c.pos == len(c.data) {
		c.fail(c.pos, whyEnd)
		return Invalid
	}
	kind := kinds[c.data[c.pos]]
	if kind == Invalid {
		c.fail(c.pos, whyValue)
	}
	return kind
}

// Finish checks that nothing but white space follows the document's value, and
// returns the first error of the cursor.
func (c *Cursor) Finish() error {
	if c.err != nil {
		return c.err
	}
	if c.phase != done || c.depth != 0 {
		c.err = errMisuse
		return c.err
	}
	c.space()
	if c.pos < len(c.data) {
		c.fail(c.pos, whyTrailing)
	}
	return c.err
}

// fail keeps a syntax error unless there was an error before.
func (c *Cursor) fail(offset int, reason string) {
	if c.err == nil {
		c.err = &SyntaxError{Offset: offset, Reason: reason}
	}
}

// space moves the cursor over white space.
func (c *Cursor) space() { c.pos = spaceEnd(c.data, c.pos) }

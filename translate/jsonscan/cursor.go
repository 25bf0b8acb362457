package jsonscan

import (
	"bytes"
	"math"
)

// MaxDepth is the number of containers that may be open at once.
const MaxDepth = 200

// Cursor reads one JSON document from its beginning to its end. New returns one. A Cursor
// is not safe for concurrent use. After the first error every method returns a zero
// value, and Err returns the error, so that callers may check it once, at the end.
//
// A copy of a cursor can read ahead of the original.
type Cursor struct {
	at      position
	textBuf []byte      // memory of texts with escapes
	name    memberName  // of the member that Member moved to last
	strings stringEnder // of the document
}

// New returns a cursor at the value of the document, which must not change while the
// cursor or a slice from it is in use. Invalid UTF-8 anywhere in the document is an error
// from the beginning, and so is a document of 4 GiB or more.
func New(data []byte) Cursor {
	// Short enough to be inlined, so that the cursor is built where it is kept.
	start, err := examine(data)
	return Cursor{at: position{data: data, pos: start, err: err}}
}

// Init prepares a zero cursor at the value of a document, as New does, which notes the long
// strings that it reads, for Texts. It copies no cursor, which is large.
func (c *Cursor) Init(data []byte) {
	c.at.data, c.strings.noting = data, true
	c.at.pos, c.at.err = examine(data)
}

// Err returns the first error: a *SyntaxError, a *DuplicateError, or an error of
// the calling code.
func (c *Cursor) Err() error { return c.at.err }

// Document returns the document that the cursor reads.
func (c *Cursor) Document() []byte { return c.at.data }

// Offset returns the offset of the value at the cursor, or of the first byte that was not
// consumed.
func (c *Cursor) Offset() int { return c.at.offset() }

// Kind returns the kind of the value at the cursor by its first byte, without consuming
// the value. If there is no value, Kind returns Invalid, and Err an error.
func (c *Cursor) Kind() Kind { return c.at.kind() }

// Finish checks that nothing but white space follows the document's value, and
// returns the first error of the cursor.
func (c *Cursor) Finish() error { return c.at.finish() }

// Again returns a cursor at a document, or at a value of one, that another cursor has
// read to its end without an error. The new cursor does not repeat the checks of texts,
// repeated names and skipped values. It may misread a document that was never checked,
// but never reads beyond its end.
func Again(data []byte) Cursor { return Texts(nil).Again(data) }

// Skipped is Again for a value that the other cursor has skipped, and therefore has not
// searched for repeated names.
func Skipped(data []byte) Cursor {
	return Cursor{at: position{data: data, pos: markEnd(data)}, strings: stringEnder{valid: true}}
}

// Within is Skipped for the value at a slot of a document. The offsets of the cursor are
// those in the document.
func Within(document []byte, slot Slot) Cursor {
	return Cursor{at: position{data: document[:slot.End], pos: slot.Start}, strings: stringEnder{valid: true}}
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

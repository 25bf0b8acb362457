package members

import (
	"errors"
	"iter"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Values contains the members of one object, in the document that the cursor reads. The
// zero Values have none. Values can be reused, and copied.
type Values struct {
	document   []byte
	object     jsonscan.Slot
	has        uint32 // the members that are present, a bit for each
	slots      [Max]slot
	unreadable bool
}

// slot is a jsonscan.Slot. No document is longer than 4 GiB.
type slot struct{ start, end uint32 }

// Losses collects what is left out of an answer. *translate.Dropped implements it.
type Losses interface {
	// Drop reports a part of the format.
	Drop(path string)
	// DropValue reports a member by its name, unless its raw value is null or empty. prefix
	// is the path of its object, with the last dot.
	DropValue(prefix string, name, raw []byte)
	// DropContent and DropContentNamed are Drop and DropNamed for content of the answer.
	DropContent(path string)
	DropContentNamed(prefix string, name []byte)
}

// Read consumes the value at the cursor, and keeps the members that the table allows. It
// reports whether the value is an object; a value of another kind has no members. Without
// losses, nothing is reported.
func (v *Values) Read(c *jsonscan.Cursor, t *Table, losses Losses) bool {
	v.Reset(c)
	start := c.Offset()
	if !c.EnterObject() {
		c.Skip()
		return false
	}
	v.readMembers(c, t, losses)
	v.object = jsonscan.Slot{Start: start, End: c.Offset()}
	return true
}

var errNoObject = errors.New("no JSON object")

// ReadDocument is Read for a document, at whose beginning the cursor is, and returns an error
// unless the document is an object. With losses, a repeated member is an error, too, since
// its value is ambiguous. Without, reading stops there.
func (v *Values) ReadDocument(c *jsonscan.Cursor, t *Table, losses Losses) error {
	object := v.Read(c, t, losses)
	err := c.Finish()
	if losses == nil {
		err = jsonscan.Broken(err)
	}
	if err == nil && !object {
		err = errNoObject
	}
	return err
}

// Reset removes all members. Keep adds members again, from the document of the cursor.
func (v *Values) Reset(c *jsonscan.Cursor) {
	v.document, v.object, v.has, v.unreadable = c.Document(), jsonscan.Slot{}, 0, false
}

// Keep consumes the value of the cursor's member, and keeps the value if the table allows
// it. It is for objects of which the caller reads some members itself.
func (v *Values) Keep(c *jsonscan.Cursor, t *Table, losses Losses) {
	i := t.names.Find(c.Name())
	if i < 0 {
		drop(c, t, c.Skip(), losses)
		return
	}
	r := &t.rows[i]
	if r.object != nil && c.EnterObject() {
		v.readMembers(c, r.object, losses)
		return
	}
	kind, span := c.SkipAt()
	if r.kinds>>kind&1 != 0 {
		v.slots[r.member] = slot{uint32(span.Start), uint32(span.End)}
		v.has |= 1 << r.member
		return
	}
	switch raw := v.document[span.Start:span.End]; {
	case r.others == dropped:
		drop(c, t, raw, losses)
	case r.others == ignored || jsonscan.Blank(raw):
	case r.others == forbidden:
		v.unreadable = true
	case losses == nil:
	case t.content:
		losses.DropContent(r.path)
	default:
		losses.Drop(r.path)
	}
}

func (v *Values) readMembers(c *jsonscan.Cursor, t *Table, losses Losses) {
	for c.Member() {
		v.Keep(c, t, losses)
	}
}

// drop reports the cursor's member, whose value is left out.
func drop(c *jsonscan.Cursor, t *Table, raw []byte, losses Losses) {
	switch {
	case losses == nil:
	case t.content && !jsonscan.Blank(raw):
		losses.DropContentNamed(t.path, c.Name())
	default:
		losses.DropValue(t.path, c.Name(), raw)
	}
}

// Unreadable reports whether a member that must not be lost has a value of a wrong kind.
func (v *Values) Unreadable() bool { return v.unreadable }

// Object returns the object that was read, raw, nil for none.
func (v *Values) Object() []byte { return v.document[v.object.Start:v.object.End:v.object.End] }

// Raw returns the raw value of a member, nil for none.
func (v *Values) Raw(m Member) []byte {
	if v.has>>m&1 == 0 {
		return nil
	}
	span := v.slots[m]
	return v.document[span.start:span.end:span.end]
}

// Filled returns the raw value of a member, nil for one that is null or empty.
func (v *Values) Filled(m Member) []byte {
	if v.has>>m&1 == 0 { // nearly always
		return nil
	}
	return v.filled(m)
}

// Set reports whether a member is present and not null.
func (v *Values) Set(m Member) bool {
	raw := v.Raw(m)
	return len(raw) > 0 && raw[0] != 'n'
}

func (v *Values) filled(m Member) []byte {
	raw := v.Raw(m)
	if jsonscan.Blank(raw) {
		return nil
	}
	return raw
}

// At returns the position of the value of a member in the document, the zero Slot for
// none.
func (v *Values) At(m Member) (slot jsonscan.Slot) {
	if v.has>>m&1 != 0 {
		slot = jsonscan.Slot{Start: int(v.slots[m].start), End: int(v.slots[m].end)}
	}
	return slot
}

// Scalars returns an iterator over the strings and numbers in the value of a member; see
// jsonscan.Scalars.
func (v *Values) Scalars(m Member) iter.Seq2[[]byte, jsonscan.Slot] {
	return jsonscan.Scalars(v.document, v.At(m))
}

// Slice returns the part of the document at a slot.
func (v *Values) Slice(slot jsonscan.Slot) []byte { return v.document[slot.Start:slot.End:slot.End] }

// Cursor returns a cursor at the value of a member, which must be present. The positions
// of what it reads are those in the document.
func (v *Values) Cursor(m Member) jsonscan.Cursor { return jsonscan.Within(v.document, v.At(m)) }

package jsonscan

import (
	"bytes"
	"iter"
)

// Members returns an iterator over the raw names, without their quotes, and the raw
// values of the members of a valid object. It is empty for a value of another kind, and
// ends at the first syntax error. Unlike a cursor, it accepts repeated members, so it
// suits objects that are only copied, such as schemas, and objects whose names are data.
func Members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		if len(object) == 0 || object[0] != '{' {
			return
		}
		for i := spaceEnd(object, 1); i < len(object) && object[i] == '"'; {
			end, _, reason := stringEnd(object, i)
			if reason != "" {
				return
			}
			name := unquoted(object[i:end])
			if i = spaceEnd(object, end); i == len(object) {
				return
			}
			i = spaceEnd(object, i+len(":"))
			if end, reason = valueEnd(object, i, MaxDepth); reason != "" || !yield(name, object[i:end]) {
				return
			}
			if i = spaceEnd(object, end); i == len(object) || object[i] != ',' {
				return
			}
			i = spaceEnd(object, i+len(","))
		}
	}
}

// MemberOf returns the raw value of the first member of a valid object with that name, nil for
// none.
func MemberOf(object []byte, name string) []byte {
	for found, value := range Members(object) {
		if string(found) == name || escapedIs(found, name) {
			return value
		}
	}
	return nil
}

// CutMember returns the span of the first member of a valid object with that name,
// including one adjacent comma, so that the rest of the object is valid. The span is
// empty if there is no such member.
func CutMember(object []byte, name string) (start, end int) {
	c := Again(object)
	if !c.EnterObject() {
		return 0, 0
	}
	before := 0 // the end of the preceding member
	for c.Member() {
		if string(c.Name()) == name {
			return cutMember(&c, before)
		}
		c.Skip()
		before = c.Offset()
	}
	return 0, 0
}

// cutMember is CutMember for the current member of a cursor. before is the end of the
// preceding member, 0 for none.
func cutMember(c *Cursor, before int) (start, end int) {
	start = c.MemberStart()
	c.Skip()
	end = c.Offset()
	switch {
	case before > 0:
		return before, end
	case c.Member():
		return start, c.MemberStart()
	default:
		return start, end
	}
}

// escapedIs reports whether a raw name with escapes equals a name.
func escapedIs(raw []byte, name string) bool {
	return bytes.IndexByte(raw, '\\') >= 0 && string(appendDecoded(nil, raw)) == name
}

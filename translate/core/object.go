package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Object holds the members of one object by their indices in Names, of at most 32
// names. Members that are null are absent. It may be read again and again.
type Object struct {
	values [32][]byte
	has    uint32 // a bit for each value that belongs to the object read last
	at     int    // the member that Next moved to
	open   bool
}

// Set is a set of members, a bit for each index.
type Set uint32

// SetOf returns the set of these indices.
func SetOf(indices ...int) (s Set) {
	for _, i := range indices {
		s |= 1 << i
	}
	return s
}

// Read consumes an object at the reader's place, or a value that is none and has
// no members. Members that have no name are reported as lost; path is that of the
// object in the element at the reader's place, with a dot behind, or "".
func (o *Object) Read(x *Translation, c *jsonscan.Cursor, names *Names, path string) {
	for o.Enter(c); o.Next(x, c, names, path); {
		o.Keep(c)
	}
}

// Enter enters an object of which Next gives the members, for readers that read
// some of them at once. It reports whether there is an object, and consumes
// another value.
func (o *Object) Enter(c *jsonscan.Cursor) bool {
	o.has = 0
	if o.open = c.EnterObject(); !o.open {
		c.Skip()
	}
	return o.open
}

// Next moves to the value of the next member that has a name, and reports whether
// there is one. The value must be consumed, by Keep or otherwise.
func (o *Object) Next(x *Translation, c *jsonscan.Cursor, names *Names, path string) bool {
	for o.open && c.Member() {
		name := c.Name()
		if o.at = names.Index(name); o.at >= 0 {
			return true
		}
		if says(c.Skip()) {
			x.LoseMember(path, name)
		}
	}
	return false
}

// At returns the index of the member that Next moved to.
func (o *Object) At() int { return o.at }

// Keep consumes the value of the member that Next moved to, for Raw.
func (o *Object) Keep(c *jsonscan.Cursor) {
	if value := c.Skip(); says(value) {
		o.values[o.at] = value
		o.has |= 1 << o.at
	}
}

// says reports whether a raw value is there: null is not, nor what could not be
// read because of an error.
func says(raw []byte) bool { return len(raw) > 0 && raw[0] != 'n' }

// Raw returns the value of a member as it is written, nil for none.
func (o *Object) Raw(i int) []byte {
	if o.has&(1<<i) == 0 {
		return nil
	}
	return o.values[i]
}

// LoseOthers reports the members that are not in the set: what they say means
// nothing in an object of this kind. path is as in Read.
func (o *Object) LoseOthers(x *Translation, own Set, names *Names, path string) {
	others := o.has &^ uint32(own)
	for i := 0; others != 0; i, others = i+1, others>>1 {
		if others&1 != 0 && !jsonscan.Blank(o.values[i]) {
			x.LoseMember(path, []byte(names.list[i]))
		}
	}
}

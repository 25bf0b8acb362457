package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Object contains the members of one object by their indices in Names, which has at
// most 32 names. Members that are null are absent. An Object can be reused.
type Object struct {
	values [32][]byte
	has    uint32 // a bit for each member that the object read last has
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

// Read consumes the value at the cursor and keeps its members; a value that is not an
// object has none. Members that are not in names are reported as lost. path is the
// path from the element at the reader's place to the object, with a dot behind, or "".
func (o *Object) Read(x *Translation, c *jsonscan.Cursor, names *Names, path string) {
	for o.Enter(c); o.Next(x, c, names, path); {
		o.Keep(c)
	}
}

// Enter enters the object at the cursor, whose members Next visits, for readers that
// consume some of the values themselves. It reports whether there is an object; any
// other value is consumed.
func (o *Object) Enter(c *jsonscan.Cursor) bool {
	o.has = 0
	if o.open = c.EnterObject(); !o.open {
		c.Skip()
	}
	return o.open
}

// Next moves to the value of the next member that is in names, and reports whether
// there is one. The caller must consume the value, by Keep or otherwise.
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

// says reports whether a raw value is present. A null is not, and neither is a value
// that could not be read.
func says(raw []byte) bool { return len(raw) > 0 && raw[0] != 'n' }

// Raw returns the raw value of a member, nil for none.
func (o *Object) Raw(i int) []byte {
	if o.has&(1<<i) == 0 {
		return nil
	}
	return o.values[i]
}

// LoseOthers reports the loss of the members that are not in own, since they have no
// meaning in an object of this kind. path is as in Read.
func (o *Object) LoseOthers(x *Translation, own Set, names *Names, path string) {
	others := o.has &^ uint32(own)
	for i := 0; others != 0; i, others = i+1, others>>1 {
		if others&1 != 0 && !jsonscan.Blank(o.values[i]) {
			x.LoseMember(path, []byte(names.list[i]))
		}
	}
}

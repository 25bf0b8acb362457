package core

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Object holds the members of one object by their indices in Names, of at most 32
// names. Members that are null are absent. It may be read again and again.
type Object struct {
	values [32][]byte
	has    uint32 // a bit for each value that belongs to the object read last
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
	o.has = 0
	if !c.EnterObject() {
		c.Skip()
		return
	}
	for c.Member() {
		if c.Null() {
			continue
		}
		name := c.Name()
		i := names.Index(name)
		value := c.Skip()
		switch {
		case value == nil: // after an error
		case i < 0:
			x.LoseMember(path, name)
		default:
			o.values[i] = value
			o.has |= 1 << i
		}
	}
}

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

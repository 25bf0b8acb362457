package core

import (
	"math/bits"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// Object contains the members of one object of a request. Members that are null are
// absent. An Object can be reused.
type Object struct {
	values  [strict.MaxMembers][]byte // by their indices in the table
	has     strict.Set                // the members that are present
	sizes   uint32                    // the lengths of their names, a bit for each
	table   *strict.Table
	names   []string // of the table
	path    string
	current int // the member that Next moved to
	open    bool
}

// Read consumes the value at the cursor and keeps the members that are in the table; a
// value that is not an object has none. Other members are reported as lost unless they are
// empty. path is the path from the element at the reader's place to the object, or "".
func (o *Object) Read(x *Translation, c *jsonscan.Cursor, table *strict.Table, path string) {
	for o.Enter(c, table, path); o.Next(x, c); {
		o.Keep(c)
	}
}

// ReadRaw is Read for a raw value.
func (o *Object) ReadRaw(x *Translation, raw []byte, table *strict.Table, path string) {
	c := jsonscan.Again(raw)
	o.Read(x, &c, table, path)
}

// Enter enters the object at the cursor, whose members Next visits, for readers that
// consume some of the values themselves. A value of another kind is consumed.
func (o *Object) Enter(c *jsonscan.Cursor, table *strict.Table, path string) {
	o.has, o.sizes, o.table, o.names, o.path = 0, 0, table, table.Names(), path
	if o.open = c.EnterObject(); !o.open {
		c.Skip()
	}
}

// Next moves to the value of the next member that is in the table, and reports whether
// there is one. The caller must consume the value, by Keep or otherwise.
func (o *Object) Next(x *Translation, c *jsonscan.Cursor) bool {
	for o.open && c.Member() {
		name := c.Name()
		if o.current = o.table.Find(name); o.current >= 0 {
			return true
		}
		if !jsonscan.Blank(c.Skip()) {
			x.LoseMember(o.path, name)
		}
	}
	return false
}

// Name returns the name of the member that Next moved to.
func (o *Object) Name() string { return o.names[o.current] }

// Keep consumes the value of the member that Next moved to, for Raw.
func (o *Object) Keep(c *jsonscan.Cursor) { o.keep(c.Skip()) }

func (o *Object) keep(value []byte) {
	if isPresent(value) {
		o.values[o.current] = value
		o.has |= 1 << o.current
		o.sizes |= 1 << (len(o.names[o.current]) & 31)
	}
}

// isPresent reports whether a raw value is present. A null is not, and neither is a value
// that could not be read.
func isPresent(raw []byte) bool { return len(raw) > 0 && raw[0] != 'n' }

// Raw returns the raw value of a member, nil for none.
func (o *Object) Raw(name string) []byte {
	if o.sizes>>(len(name)&31)&1 == 0 {
		return nil // most members of a table are absent
	}
	return o.find(name)
}

// find is Raw for a name with the length of a present one.
func (o *Object) find(name string) []byte {
	for rest := o.has; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros32(uint32(rest)); o.names[i] == name {
			return o.values[i]
		}
	}
	return nil
}

// Text returns the text of a member, escaped, nil if the member is absent or not a
// string.
func (o *Object) Text(name string) []byte { return jsonscan.Inner(o.Raw(name)) }

// Word returns the decoded text of a member.
func (o *Object) Word(name string) []byte { return jsonscan.DecodedOf(o.Raw(name)) }

// Shape returns the shape of the object by its type, nil if the table does not have the
// type. Of objects that state none, the strict pass lets only those pass whose type is known.
func (o *Object) Shape() *strict.Shape {
	text := o.Text("type")
	if text == nil && o.Raw("type") == nil {
		return o.table.Untyped()
	}
	if s := o.table.Shape(text); s != nil || !jsonscan.HasEscapes(text) {
		return s // no type has a backslash
	}
	return o.table.Shape(o.Word("type"))
}

// LoseNamed reports the loss of members, each by the row of its name in the object at a path of the
// rows. It reports false if the object has none of them.
func (o *Object) LoseNamed(x *Translation, path string, members ...string) (lost bool) {
	for _, name := range members {
		if o.Raw(name) != nil {
			x.Lose(x.From.Rows.Named(joinMember(path, name)), nil)
			lost = true
		}
	}
	return lost
}

// LoseMembers reports the loss of members that have no meaning beside the others, unless they are empty.
func (o *Object) LoseMembers(x *Translation, members ...string) {
	for _, name := range members {
		if !jsonscan.Blank(o.Raw(name)) {
			x.LoseMember(o.path, []byte(name))
		}
	}
}

// LoseOthers reports the loss of the members that objects of a shape do not have.
func (o *Object) LoseOthers(x *Translation, s *strict.Shape) {
	others := s.Others(o.has)
	for i := 0; others != 0; i, others = i+1, others>>1 {
		if others&1 != 0 && !jsonscan.Blank(o.values[i]) {
			x.LoseMember(o.path, []byte(o.names[i]))
		}
	}
}

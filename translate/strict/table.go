package strict

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Table describes the objects at one place of a request: their members, in the order in which
// faults are reported, by the types of the objects. The strict pass checks objects against it;
// the reader finds members in it, and reports those that have no meaning in an object of its
// type. Tables follow from the rows of a format (core.NewRows). A Table is immutable.
type Table struct {
	*jsonscan.NameIndex           // of the members
	checks              []checked // by the indices of the members

	types   *jsonscan.NameIndex
	shapes  []Shape // by the indices of types, and behind them that of an unknown type
	typed   int     // the index of the member that states the type, -1 for none
	untyped *Shape  // of objects that state none, nil if nothing is known of them
	beside  int     // the index of the member that these must have for that, -1 for none
}

// checked describes how the values of a member are checked.
type checked struct {
	check   Check  // nil for values that are only skipped
	objects *Table // in the values, nil for none
	// types are those of the objects whose values are checked, 0 for all. The check reads
	// the values of other objects as well, but what it notes there is discarded.
	types TypeSet
}

// MaxMembers is the greatest number of members in a Table, and one more than that of types.
const MaxMembers = 32

// Set is a set of members of a Table, a bit for each index.
type Set uint32

// Shape describes the objects of one type. A nil shape is that of an unknown type, of
// whose objects nothing is known.
type Shape struct {
	name    string
	needs   []need
	members Set
	bit     TypeSet
}

// TypeSet is a set of types of a Table.
type TypeSet uint32

// Has reports whether the type of a shape is in the set.
func (t TypeSet) Has(s *Shape) bool { return s != nil && t&s.bit != 0 }

// Need is what an object must have of a member.
type Need struct {
	Kind     jsonscan.Kind // Invalid for a member of any kind
	Optional bool          // the member may be absent
	// Texts is the message about a member that must be a string or an array; "" for
	// other members.
	Texts string
	// Without is the member that an object must not have beside this one, "" for none.
	Without string
}

// need is a Need of the member at an index.
type need struct {
	*Need
	index int
}

// Member is a member of the objects of a Table.
type Member struct {
	Name  string
	Types string // of the objects that have the member, separated by spaces; "" for those of all types
	Need  *Need  // nil for a member that may be absent, and whose kind is not checked
}

// Types are the types of the objects of a Table.
type Types struct {
	Member string   // the name of the member that states the type, "" for none
	Names  []string // of the types
	// Absent is the type of an object that states none, "" for none, and Beside the member
	// that such an object has, "" for any.
	Absent, Beside string
}

// NewTable returns the table of objects with these types and members. A member with the name
// of a type is one of the objects of that type alone. A member may be named several times, with
// other types and needs.
func NewTable(types Types, members ...Member) *Table {
	t := &Table{NameIndex: new(jsonscan.NameIndex), types: jsonscan.NewNameIndex(types.Names...)}
	for i, name := range append(slices.Clip(types.Names), "") {
		t.shapes = append(t.shapes, Shape{name: name, bit: 1 << i})
	}
	for _, m := range members {
		if t.Find([]byte(m.Name)) < 0 {
			t.Add(m.Name)
		}
	}
	if max(len(t.Names()), len(t.shapes)) > MaxMembers {
		panic("strict: a table has more than 32 members or 31 types")
	}
	for i, name := range t.Names() {
		t.addMember(i, name == types.Member, slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Name != name }))
	}
	t.checks = make([]checked, len(t.Names()))
	t.typed, t.beside = t.Find([]byte(types.Member)), t.Find([]byte(types.Beside))
	t.untyped = t.Named(types.Absent)
	return t
}

// addMember adds the member at an index, of which several rows may say something, to the shapes
// of its types. That an object must state its type is for those of an unknown type alone.
func (t *Table) addMember(i int, isType bool, rows []Member) {
	var all TypeSet
	for _, m := range rows {
		all |= t.Types(m.Types)
	}
	unknown := &t.shapes[len(t.shapes)-1]
	if named := t.Named(rows[0].Name); all == 0 && named != nil {
		all = named.bit
	} else if all == 0 {
		all = unknown.bit<<1 - 1
	}
	for s := range t.shapes {
		if all.Has(&t.shapes[s]) {
			t.shapes[s].members |= 1 << i
		}
	}
	for _, m := range rows {
		of := t.Types(m.Types)
		if of == 0 {
			of = all
		}
		if isType {
			of &= unknown.bit
		}
		for s := range t.shapes {
			if m.Need != nil && of.Has(&t.shapes[s]) {
				t.shapes[s].needs = append(t.shapes[s].needs, need{m.Need, i})
			}
		}
	}
}

// Check sets how the values of the member at an index are checked. objects is the table of the
// objects in the values, nil for none. types are the types, separated by spaces, of the objects
// whose values are checked, "" for all that have the member.
func (t *Table) Check(i int, check Check, objects *Table, types string) {
	of := t.Types(types)
	for s := range t.shapes {
		if types == "" && t.shapes[s].members>>i&1 == 1 {
			of |= t.shapes[s].bit
		}
	}
	if t.shapes[len(t.shapes)-1].bit&of != 0 {
		of = 0
	}
	t.checks[i] = checked{check, objects, of}
}

// needsOf returns what an object of a shape must have, in the order of the members. What objects
// of every type must have, those of an unknown type must have as well.
func (t *Table) needsOf(s *Shape) []need {
	if s == nil {
		s = &t.shapes[len(t.shapes)-1]
	}
	return s.needs
}

// Shape returns the shape of objects of a type, nil if the table has no such type.
func (t *Table) Shape(name []byte) *Shape {
	if i := t.types.Find(name); i >= 0 {
		return &t.shapes[i]
	}
	return nil
}

// Named is Shape for a name that the code knows. It is faster for tables of few types.
func (t *Table) Named(name string) *Shape {
	for i := range t.types.Names() {
		if s := &t.shapes[i]; s.name == name {
			return s
		}
	}
	return nil
}

// Untyped returns the shape of objects that do not state their type.
func (t *Table) Untyped() *Shape { return t.untyped }

// Types returns the set of types with these names, separated by spaces. It panics if the
// table does not have one of the types.
func (t *Table) Types(names string) (set TypeSet) {
	for name := range strings.FieldsSeq(names) {
		set |= t.Named(name).bit
	}
	return set
}

// Type returns the name of the type, "" for an unknown type.
func (s *Shape) Type() string {
	if s == nil {
		return ""
	}
	return s.name
}

// Others returns the members of the set that objects of the shape do not have.
func (s *Shape) Others(of Set) Set {
	if s == nil {
		return 0
	}
	return of &^ s.members
}

package schema

import (
	"iter"
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// MaxMembers is the greatest number of members in a Table.
const MaxMembers = 32

// Set is a set of members of a Table, a bit for each index.
type Set uint32

// Shape describes the objects of one type. A nil shape is that of an unknown type, of
// whose objects nothing is known.
type Shape struct {
	name    string
	needs   []Need
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
	// Name and Index are those of the member in the table, which sets them.
	Name  string
	Index int
}

// Table describes the objects at one place of a request. It is immutable.
type Table struct {
	members *Names
	types   *Names
	shapes  []Shape // by the indices of types

	typed   int     // the index of the member that states the type, -1 for none
	untyped Untyped // the objects that state none
	unknown Shape   // what objects of every type have, and must have
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

// Untyped describes objects that do not state their type.
type Untyped struct {
	*Shape     // nil if nothing is known of them
	Beside int // the index of the member that they must have for that, -1 for none
}

// New returns the table of objects without types, whose members are separated by spaces.
func New(members string) *Table {
	var all []Member
	for name := range strings.FieldsSeq(members) {
		all = append(all, Member{Name: name})
	}
	return NewTable(Types{}, all...)
}

// NewTable returns the table of objects with these types and members. A member with the name
// of a type is one of the objects of that type alone. A member may be named several times, with
// other types and needs.
func NewTable(types Types, members ...Member) *Table {
	t := &Table{members: new(Names), types: NewNames(types.Names...), typed: -1}
	for _, m := range members {
		if t.members.Index([]byte(m.Name)) < 0 {
			t.members.Add(m.Name)
		}
	}
	if max(len(t.Names()), len(types.Names)) > MaxMembers {
		panic("schema: a table has more than 32 members or types")
	}
	for i, name := range types.Names {
		t.shapes = append(t.shapes, Shape{name: name, bit: 1 << i})
	}
	for i, name := range t.Names() {
		t.addMember(i, name, members, name == types.Member)
	}
	if types.Member != "" {
		t.typed = t.members.Index([]byte(types.Member))
	}
	t.untyped = Untyped{t.Named(types.Absent), t.members.Index([]byte(types.Beside))}
	return t
}

// addMember adds the member at an index to the shapes of its types. That an object must state its
// type is for those of an unknown type alone.
func (t *Table) addMember(i int, name string, members []Member, isType bool) {
	members = slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Name != name })
	var of []string // types
	for _, m := range members {
		of = append(of, strings.Fields(m.Types)...)
	}
	if len(of) == 0 && t.Named(name) != nil {
		of = []string{name}
	}
	for s := range t.shapesOf(of) {
		s.members |= 1 << i
	}
	for _, m := range members {
		if m.Need == nil {
			continue
		}
		need := *m.Need
		need.Name, need.Index = name, i
		if types := strings.Fields(m.Types); len(types) > 0 {
			of = types
		}
		for s := range t.shapesOf(of) {
			if !isType || s == &t.unknown {
				s.needs = append(s.needs, need)
			}
		}
	}
}

// shapesOf returns the shapes of the types, or all if there are none.
func (t *Table) shapesOf(types []string) iter.Seq[*Shape] {
	return func(yield func(*Shape) bool) {
		for i := range t.shapes {
			if s := &t.shapes[i]; (len(types) == 0 || slices.Contains(types, s.name)) && !yield(s) {
				return
			}
		}
		if len(types) == 0 {
			yield(&t.unknown)
		}
	}
}

// TypeMember returns the index of the member that states the type, -1 for none.
func (t *Table) TypeMember() int { return t.typed }

// Untyped returns what is known of objects that do not state their type.
func (t *Table) Untyped() Untyped { return t.untyped }

// NeedsOf returns the members that an object of a shape must have, in the order of the table.
// What objects of every type must have, those of an unknown type must have as well.
func (t *Table) NeedsOf(s *Shape) []Need {
	if s == nil {
		s = &t.unknown
	}
	return s.needs
}

// TypesWith returns the types of the objects that have the member at an index, 0 if objects of
// every type have it.
func (t *Table) TypesWith(i int) (set TypeSet) {
	for s := range t.shapesOf(nil) {
		if s.members>>i&1 == 1 {
			set |= s.bit
		}
	}
	if t.unknown.members>>i&1 == 1 {
		return 0
	}
	return set
}

// InSnakeCase returns the table, which finds members in snake case as well: "functionCall" as
// "function_call".
func (t *Table) InSnakeCase() *Table {
	t.members.InSnakeCase()
	return t
}

// Names returns the names of all members by their indices. They must not be changed.
func (t *Table) Names() []string { return t.members.List() }

// Find returns the index of a member, -1 if the table has no such member.
func (t *Table) Find(name []byte) int { return t.members.Index(name) }

// Shape returns the shape of objects of a type, nil if the table has no such type.
func (t *Table) Shape(name []byte) *Shape {
	if i := t.types.Index(name); i >= 0 {
		return &t.shapes[i]
	}
	return nil
}

// Named is Shape for a name that the code knows. It is faster for tables of few types.
func (t *Table) Named(name string) *Shape {
	for i := range t.shapes {
		if s := &t.shapes[i]; s.name == name {
			return s
		}
	}
	return nil
}

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

package shape

import (
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
	others  string // the members that are not needed
	members Set
	bit     Types
}

// Types is a set of types of a Table.
type Types uint32

// Has reports whether the type of a shape is in the set.
func (t Types) Has(s *Shape) bool { return s != nil && t&s.bit != 0 }

// Need is a member that an object must have.
type Need struct {
	Name     string
	Kind     jsonscan.Kind // Invalid for a member of any kind
	Optional bool          // the member may be absent
	// Texts is the message about a member that must be a string or an array; "" for
	// other members.
	Texts string
	// Index is the index of the member in the table.
	Index int
}

// A returns the Need of a member of a kind.
func A(kind jsonscan.Kind, name string) Need { return Need{Name: name, Kind: kind} }

// Texts returns the Need of a member that is a string or an array; what is the message
// about a value of another kind.
func Texts(name, what string) Need { return Need{Name: name, Texts: what} }

// OrNone returns the Need of a member that may be absent.
func (n Need) OrNone() Need {
	n.Optional = true
	return n
}

// Of returns the shape of objects of some types, separated by spaces. members are the
// members that the objects may have beside those that they must have, separated by
// spaces.
func Of(types, members string, needs ...Need) Shape {
	return Shape{name: types, needs: needs, others: members}
}

// Table describes the objects at one place of a request. It is immutable.
type Table struct {
	members *Names
	types   *Names
	shapes  []Shape // by the indices of types
}

// New returns the table of objects with these shapes. common are the members that
// objects of every type may have, separated by spaces.
func New(common string, shapes ...Shape) *Table {
	var members members
	inAll := members.add(common)
	t, types := new(Table), []string(nil)
	for _, s := range shapes {
		s.members = inAll
		s.needs = slices.Clone(s.needs)
		for i := range s.needs {
			n := &s.needs[i]
			s.members |= members.add(n.Name)
			n.Index = slices.Index(members, n.Name)
		}
		s.members |= members.add(s.others)
		for s.name = range strings.FieldsSeq(s.name) {
			s.bit = 1 << len(types)
			t.shapes, types = append(t.shapes, s), append(types, s.name)
		}
	}
	if max(len(members), len(types)) > MaxMembers {
		panic("shape: a table has more than 32 members or types")
	}
	t.members, t.types = NewNames(members...), NewNames(types...)
	return t
}

// InSnakeCase returns the table, which finds members in snake case as well: "functionCall" as
// "function_call".
func (t *Table) InSnakeCase() *Table {
	t.members.InSnakeCase()
	return t
}

// members are the members of a table, by their indices.
type members []string

// add adds the members that are missing, and returns the set of all members named.
func (m *members) add(names string) (s Set) {
	for name := range strings.FieldsSeq(names) {
		i := slices.Index(*m, name)
		if i < 0 {
			i, *m = len(*m), append(*m, name)
		}
		s |= 1 << i
	}
	return s
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
func (t *Table) Types(names string) (set Types) {
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

// Needs returns the members that an object must have, in the order in which faults are
// reported.
func (s *Shape) Needs() []Need {
	if s == nil {
		return nil
	}
	return s.needs
}

// Others returns the members of the set that objects of the shape do not have.
func (s *Shape) Others(of Set) Set {
	if s == nil {
		return 0
	}
	return of &^ s.members
}

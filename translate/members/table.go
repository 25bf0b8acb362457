package members

import (
	"slices"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Max is the greatest number of members with a value in a Table, those of the objects
// inside included.
const Max = 24

// Member identifies a member of a Table. The zero Member is the first one of a table.
type Member uint8

// Kinds is a set of kinds of JSON values.
type Kinds uint8

// The kinds.
const (
	Null   Kinds = 1 << jsonscan.Null
	Bool   Kinds = 1 << jsonscan.Bool
	Number Kinds = 1 << jsonscan.Number
	String Kinds = 1 << jsonscan.String
	Array  Kinds = 1 << jsonscan.Array
	Object Kinds = 1 << jsonscan.Object
	Any          = Null | Bool | Number | String | Array | Object
)

// Table lists the members of the objects of one kind. It must not be changed once an
// object was read.
type Table struct {
	path    string // of the members, with the last dot
	names   jsonscan.NameIndex
	rows    []row // by the indices of the names
	values  *int  // members with a value, shared with the objects inside
	content bool  // see NewContent
}

// row describes one member.
type row struct {
	member Member
	kinds  Kinds  // of values that are kept
	others fate   // of values of other kinds
	object *Table // of an object that is read with the one around it
	path   string // of the member
}

// fate is what becomes of a value that is not kept. Null and empty values are ignored.
type fate uint8

const (
	dropped   fate = iota // reported with the name as the document has it
	ignored               // not reported
	lost                  // reported as a part of the format
	forbidden             // the object is Unreadable
)

// New returns an empty table. path is the path of the members in reports of losses, with
// the last dot: "content[*].", or "" for the members of a document.
func New(path string) *Table { return &Table{path: path, values: new(int)} }

// NewContent is New for the parts of the content of an answer: a member that is left out is
// content.
func NewContent(path string) *Table { return &Table{path: path, values: new(int), content: true} }

// Of adds a member that is kept if it has one of the kinds; values of other kinds are
// reported as dropped. names are its names, separated by spaces: an object that has
// several of them has the value of the last one.
func (t *Table) Of(kinds Kinds, names string) Member { return t.add(kinds, dropped, names) }

// Maybe is Of for a member whose values of other kinds are ignored.
func (t *Table) Maybe(kinds Kinds, names string) Member { return t.add(kinds, ignored, names) }

// Must is Of for a member that must not be lost: values of other kinds make the object
// Unreadable.
func (t *Table) Must(kinds Kinds, names string) Member { return t.add(kinds, forbidden, names) }

// Lost is for members, separated by spaces, that are known and cannot be expressed: they
// are reported as dropped.
func (t *Table) Lost(names string) struct{} { return t.without(lost, names) }

// Skip is for members, separated by spaces, that are known and not needed.
func (t *Table) Skip(names string) struct{} { return t.without(ignored, names) }

// Inside adds a member that is an object of its own, read together with the one around
// it: its members are members of the same Object. It returns the table of that object.
// Values of other kinds are reported as dropped.
func (t *Table) Inside(path, names string) *Table { return t.inside(path, dropped, names) }

// MustInside is Inside for an object that must not be lost.
func (t *Table) MustInside(path, names string) *Table { return t.inside(path, forbidden, names) }

// At returns a table of the same members for objects at another path.
func (t *Table) At(path string) *Table {
	other := *t
	other.path = path
	other.rows = slices.Clone(t.rows)
	for i, name := range t.names.Names() {
		other.rows[i].path = path + name
	}
	return &other
}

func (t *Table) inside(path string, others fate, names string) *Table {
	object := &Table{path: path, values: t.values}
	t.addRows(row{others: others, object: object}, names)
	return object
}

func (t *Table) without(others fate, names string) struct{} {
	t.addRows(row{others: others}, names)
	return struct{}{}
}

func (t *Table) add(kinds Kinds, others fate, names string) Member {
	m := Member(*t.values)
	if *t.values++; m == Max {
		panic("members: a table has more than 24 members with a value")
	}
	t.addRows(row{member: m, kinds: kinds, others: others}, names)
	return m
}

func (t *Table) addRows(r row, names string) {
	for name := range strings.FieldsSeq(names) {
		if t.names.Find([]byte(name)) >= 0 {
			panic("members: a table has two members " + name)
		}
		t.names.Add(name)
		r.path = t.path + name
		t.rows = append(t.rows, r)
	}
}

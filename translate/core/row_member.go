package core

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// rowMember is what a row says of the member that its name ends with: what the strict pass
// demands of it, and which objects have it.
type rowMember struct {
	only      bool // the row says nothing else
	check     strict.Check
	need      *strict.Need
	types     string // of the objects that have the member, and whose values are checked, "" for all
	orNull    bool   // a null is checked as well
	pattern   string // the path of the objects in the value, "" for that of the member
	untyped   bool   // the row names the type of objects that state none
	companion string // the member that such objects have, "" for any
	required  bool   // of the request itself
}

// described reports whether the row describes the member.
func (m *rowMember) described() bool { return m.only || m.check != nil || m.need != nil }

// merge adds what another row says of the same member.
func (m *rowMember) merge(other *rowMember) {
	if other.check != nil {
		m.check, m.types, m.pattern = other.check, other.types, other.pattern
	}
	m.orNull, m.required = m.orNull || other.orNull, m.required || other.required
}

// Member returns a row that only describes a member, for one about which several rows decide, or
// none: each value of the member, or each member of the object in it, has a row of its own.
func Member(name string) Row { return Row{Name: name, member: rowMember{only: true}} }

// Is returns the row of a member whose value the strict pass checks.
func (r Row) Is(check strict.Check) Row {
	r.member.check = check
	return r
}

// OrNull returns the row of a member whose check reads a null as well.
func (r Row) OrNull() Row {
	r.member.orNull = true
	return r
}

// Must returns the row of a member that an object must have, of one of the kinds.
func (r Row) Must(kind jsonscan.Kind) Row {
	r.member.need = &strict.Need{Kind: kind}
	return r
}

// May returns the row of a member that must be of a kind where an object has it.
func (r Row) May(kind jsonscan.Kind) Row {
	r.member.need = &strict.Need{Kind: kind, Optional: true}
	return r
}

// MustText returns the row of a member that an object must have, a string or an array; what is
// the message about a value of another kind.
func (r Row) MustText(what string) Row {
	r.member.need = &strict.Need{Texts: what}
	return r
}

// MayText is MustText for a member that may be absent.
func (r Row) MayText(what string) Row {
	r.member.need = &strict.Need{Texts: what, Optional: true}
	return r
}

// Without returns the row of a member that an object must not have beside another one.
func (r Row) Without(other string) Row {
	r.member.need = &strict.Need{Optional: true, Without: other}
	return r
}

// Required returns the row of a member that a request must have.
func (r Row) Required() Row {
	r.member.required = true
	return r
}

// Untyped returns the row of a type that objects have which state none.
func (r Row) Untyped() Row {
	r.member.untyped = true
	return r
}

// UntypedBeside is Untyped for objects that have another member.
func (r Row) UntypedBeside(member string) Row {
	r.member.untyped, r.member.companion = true, member
	return r
}

// Like returns the row of a member whose objects are those at another path.
func (r Row) Like(path string) Row {
	r.member.pattern = path
	return r
}

// Of returns the row of a member that only objects of some types have, separated by spaces, or of a
// check that is about these objects. A member with the name of a type is one of the objects of
// that type without that.
func (r Row) Of(types string) Row {
	r.member.types = types
	return r
}

// Of returns rows of members that only objects of some types have; see Row.Of.
func Of(types string, rows ...Row) []Row {
	for i := range rows {
		rows[i] = rows[i].Of(types)
	}
	return rows
}

package strict

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/shape"
)

// Members is what a pass knows of the members of an object that it has read.
type Members struct {
	table *shape.Table
	shape *shape.Shape                    // nil for an unknown type
	kinds [shape.MaxMembers]jsonscan.Kind // of the members, Invalid for absent ones
	at    int                             // the index of the member that is being read
}

// At returns the index in the table of the member that is being read.
func (m *Members) At() int { return m.at }

// Kind returns the kind of a member of the table, Invalid for an absent one.
func (m *Members) Kind(name string) jsonscan.Kind {
	return m.kinds[slices.Index(m.table.Names(), name)] // faster than Find for few members
}

// Type returns the type of the object, "" if the table does not have the type.
func (m *Members) Type() string { return m.shape.Type() }

// Needs returns the members that objects of the type must have.
func (m *Members) Needs() []shape.Need { return m.shape.Needs() }

// ReadObject reads an object of a table into m. It reads the member type itself; read
// consumes the values of the other members that are in the table. ok is false for a value
// of another kind, which is a fault.
func (v *Value) ReadObject(m *Members, table *shape.Table, read func(name string)) (ok bool) {
	m.table = table
	if !v.EnterObject() {
		v.Refuse("must be an object")
		return false
	}
	for v.Member() {
		i := table.Find(v.Name())
		if i < 0 {
			v.Skip()
			continue
		}
		if m.kinds[i] != jsonscan.Invalid {
			v.NoteMember(table.Names()[i], twoSpellings)
		}
		m.kinds[i] = v.Kind()
		m.at = i
		if name := table.Names()[i]; name != "type" {
			v.Push(name)
			read(name)
			v.Pop()
		} else if text, ok := v.Text(); ok {
			m.shape = table.Shape(text)
		} else {
			v.Skip()
		}
	}
	return true
}

// WantType checks the type of an object, and the members that objects of the type must
// have. Objects of unknown types need no other member.
func (v *Value) WantType(m *Members) {
	if m.shape == nil {
		v.WantKind("type", m.Kind("type"), jsonscan.String)
	}
	v.WantMembers(m, m.shape)
}

// WantMembers checks the members that an object of a shape must have.
func (v *Value) WantMembers(m *Members, s *shape.Shape) {
	for _, n := range s.Needs() {
		v.WantMember(m, n)
	}
}

// WantMember checks a member that an object must have.
func (v *Value) WantMember(m *Members, n shape.Need) {
	switch kind := m.kinds[n.Index]; {
	case Missing(kind) && n.Optional:
	case Missing(kind) || n.Texts == "":
		v.WantKind(n.Name, kind, n.Kind)
	case kind != jsonscan.String && kind != jsonscan.Array:
		v.NoteMember(n.Name, n.Texts+", got "+kind.String())
	}
}

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
func (p *Pass) ReadObject(m *Members, table *shape.Table, read func(name string)) (ok bool) {
	m.table = table
	if !p.EnterObject() {
		p.Refuse("must be an object")
		return false
	}
	for p.Member() {
		i := table.Find(p.Name())
		if i < 0 {
			p.Skip()
			continue
		}
		m.kinds[i] = p.Kind()
		m.at = i
		if name := table.Names()[i]; name == "type" {
			m.readType(p)
		} else {
			p.Push(name)
			read(name)
			p.Pop()
		}
	}
	return true
}

func (m *Members) readType(p *Pass) {
	if text, ok := p.Text(); ok {
		m.shape = m.table.Shape(text)
	} else {
		p.Skip()
	}
}

// WantType checks the type of an object, and the members that objects of the type must
// have. Objects of unknown types need no other member.
func (p *Pass) WantType(m *Members) {
	if m.shape == nil {
		p.WantKind("type", m.Kind("type"), jsonscan.String)
	}
	p.WantMembers(m, m.shape)
}

// WantMembers checks the members that an object of a shape must have.
func (p *Pass) WantMembers(m *Members, s *shape.Shape) {
	for _, n := range s.Needs() {
		p.WantMember(m, n)
	}
}

// WantMember checks a member that an object must have.
func (p *Pass) WantMember(m *Members, n shape.Need) {
	switch kind := m.kinds[n.Index]; {
	case Missing(kind) && n.Optional:
	case Missing(kind) || n.Texts == "":
		p.WantKind(n.Name, kind, n.Kind)
	case kind != jsonscan.String && kind != jsonscan.Array:
		p.NoteMember(n.Name, n.Texts+", got "+kind.String())
	}
}

package strict

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Members is what a pass knows of the members of an object that it has read.
type Members struct {
	table *Table
	shape *Shape                    // nil for an unknown type
	kinds [MaxMembers]jsonscan.Kind // of the members, Invalid for absent ones
}

// Find returns the index in the table of a member, and its kind, Invalid for an absent one.
func (m *Members) Find(name string) (i int, kind jsonscan.Kind) {
	i = slices.Index(m.table.Names(), name) // faster than the index for few members
	return i, m.kinds[i]
}

// Kind returns the kind of a member of the table, Invalid for an absent one.
func (m *Members) Kind(name string) jsonscan.Kind {
	_, kind := m.Find(name)
	return kind
}

// Type returns the type of the object, "" if the table does not have the type.
func (m *Members) Type() string { return m.shape.Type() }

// Object checks an object, and keeps in m what is known of its members. It reports false for a
// value of another kind, which is a fault.
func (p *Pass) Object(m *Members, t *Table) bool { return p.object(m, t, false) }

// Message is Object for an element of the conversation, whose faults are reported in the order
// of the table.
func (p *Pass) Message(m *Members, t *Table) bool { return p.object(m, t, true) }

func (p *Pass) object(m *Members, t *Table, inOrder bool) bool {
	start := p.JSON.Offset()
	m.table = t
	if !p.JSON.EnterObject() {
		p.Refuse("must be an object")
		return false
	}
	for p.Member() {
		i := t.Find(p.JSON.Name())
		if i < 0 {
			p.JSON.Skip()
			continue
		}
		if inOrder {
			p.Part(i + 1)
		}
		if m.kinds[i] != jsonscan.Invalid {
			p.NoteMember(t.Names()[i], twoSpellings)
		}
		m.kinds[i] = p.JSON.Kind()
		p.member(m, i, start)
	}
	if (t.typed < 0 || Missing(m.kinds[t.typed])) && (t.beside < 0 || !Missing(m.kinds[t.beside])) {
		m.shape = t.untyped
	}
	for _, n := range t.needsOf(m.shape) {
		if inOrder {
			p.Part(n.index + 1)
		}
		p.wantMember(m, n)
	}
	return true
}

// member reads the member at an index of the object that begins at start. What a check finds in
// an object of another type is discarded.
func (p *Pass) member(m *Members, i, start int) {
	value, before, at := &m.table.checks[i], p.found, p.JSON.Offset()
	if value.check == nil || m.kinds[i] == jsonscan.Null {
		p.JSON.Skip()
	} else {
		p.push(m.table.Names()[i])
		value.check(p, value.objects)
		p.pop()
	}
	if value.types != 0 && p.found.order != before.order && !value.types.Has(m.typeOf(p.body[start:])) {
		p.found = before
	}
	if i == m.table.typed && m.kinds[i] == jsonscan.String {
		m.shape = m.table.Shape(jsonscan.DecodedOf(p.body[at:p.JSON.Offset()]))
	}
}

// typeOf returns the shape of the object, whose type may come behind the member at hand.
func (m *Members) typeOf(object []byte) *Shape {
	t, c := m.table, jsonscan.Again(object)
	isOther := t.beside >= 0
	for c.OpenObject(); c.Member(); {
		switch i := t.Find(c.Name()); {
		case c.Null():
		case i == t.typed && c.Kind() == jsonscan.String:
			text, _ := c.Text()
			return t.Shape(text)
		case i == t.typed:
			return nil
		default:
			isOther = isOther && i != t.beside
			c.Skip()
		}
	}
	if isOther {
		return nil
	}
	return t.untyped
}

// wantMember checks what an object must have of a member.
func (p *Pass) wantMember(m *Members, n need) {
	name, kind := m.table.Names()[n.index], m.kinds[n.index]
	switch {
	case Missing(kind) && n.Optional:
	case n.Without != "":
		if !Missing(m.Kind(n.Without)) {
			p.NoteMember(name, "must not be sent together with "+n.Without)
		}
	case Missing(kind) || n.Texts == "":
		p.WantKind(name, kind, n.Kind)
	case kind != jsonscan.String && kind != jsonscan.Array:
		p.NoteMember(name, n.Texts+", got "+kind.String())
	}
}

// Missing reports whether a member is absent or null, given its kind. The kind of an
// absent member is Invalid.
func Missing(kind jsonscan.Kind) bool { return kind == jsonscan.Invalid || kind == jsonscan.Null }

// WantKind checks the kind of a member that the object at the path must have. The kind of
// an absent member is Invalid; wanted is Invalid if any kind is allowed.
func (p *Pass) WantKind(name string, kind, wanted jsonscan.Kind) {
	switch {
	case Missing(kind):
		p.NoteMember(name, Required)
	case wanted != jsonscan.Invalid && kind != wanted:
		p.NoteMember(name, must(wanted)+", got "+kind.String())
	}
}

// must returns the requirement that a value is of a kind.
func must(kind jsonscan.Kind) string {
	switch kind {
	case jsonscan.Array, jsonscan.Object:
		return "must be an " + kind.String()
	default:
		return "must be a " + kind.String()
	}
}

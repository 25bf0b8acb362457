package strict

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
)

// Table describes the objects at one place of a request: their members, in the order in which
// faults are reported, and how the values are checked. It is immutable.
type Table struct {
	Members *schema.Table
	// Values are the checks of the members, by their indices.
	Values []Checked
}

// Checked describes the values of a member.
type Checked struct {
	Check   Check  // nil for values that are only skipped
	Objects *Table // in the values, nil for none
	// Types are those of the objects whose values are checked, 0 for all. The check reads
	// the values of other objects as well, but what it notes there is discarded.
	Types schema.TypeSet
}

// Object checks an object, and keeps in m what is known of its members. It reports false for a
// value of another kind, which is a fault.
func (p *Pass) Object(m *Members, t *Table) bool { return p.object(m, t, false) }

// Message is Object for an element of the conversation, whose faults are reported in the order
// of the table.
func (p *Pass) Message(m *Members, t *Table) bool { return p.object(m, t, true) }

func (p *Pass) object(m *Members, t *Table, inOrder bool) bool {
	start := p.JSON.Offset()
	m.table = t.Members
	if !p.JSON.EnterObject() {
		p.Refuse("must be an object")
		return false
	}
	for p.Member() {
		i := m.table.Find(p.JSON.Name())
		if i < 0 {
			p.JSON.Skip()
			continue
		}
		if inOrder {
			p.Part(i + 1)
		}
		if m.kinds[i] != jsonscan.Invalid {
			p.NoteMember(m.table.Names()[i], twoSpellings)
		}
		m.kinds[i] = p.JSON.Kind()
		p.member(m, t, i, start)
	}
	if untyped := m.table.Untyped(); Missing(m.kindOfType()) && (untyped.Beside < 0 || !Missing(m.kinds[untyped.Beside])) {
		m.shape = untyped.Shape
	}
	needs := m.table.NeedsOf(m.shape)
	for i := range needs {
		if inOrder {
			p.Part(needs[i].Index + 1)
		}
		p.wantMember(m, &needs[i])
	}
	return true
}

// member reads a member of the object that begins at start.
func (p *Pass) member(m *Members, t *Table, i, start int) {
	value, isType, at := &t.Values[i], i == m.table.TypeMember(), p.JSON.Offset()
	switch {
	case value.Check == nil || m.kinds[i] == jsonscan.Null:
		p.JSON.Skip()
	case value.Types == 0:
		p.push(m.table.Names()[i])
		value.Check(p, value.Objects)
		p.pop()
	default:
		p.checkOf(m, t, i, start)
	}
	if isType && m.kinds[i] == jsonscan.String {
		m.shape = m.table.Shape(jsonscan.DecodedOf(p.body[at:p.JSON.Offset()]))
	}
}

// checkOf checks the value of a member that objects of some types have. What it finds in another
// object is discarded.
func (p *Pass) checkOf(m *Members, t *Table, i, start int) {
	value, before := &t.Values[i], p.found
	p.push(m.table.Names()[i])
	value.Check(p, value.Objects)
	p.pop()
	if p.found.order != before.order && !value.Types.Has(m.typeOf(p.body[start:])) {
		p.found = before
	}
}

// kindOfType returns the kind of the member that states the type, Invalid for none.
func (m *Members) kindOfType() jsonscan.Kind {
	if at := m.table.TypeMember(); at >= 0 {
		return m.kinds[at]
	}
	return jsonscan.Invalid
}

// typeOf returns the shape of the object, whose type may come behind the member at hand.
func (m *Members) typeOf(object []byte) *schema.Shape {
	c, untyped := jsonscan.Again(object), m.table.Untyped()
	isOther := untyped.Beside >= 0
	for c.OpenObject(); c.Member(); {
		switch i := m.table.Find(c.Name()); {
		case c.Null():
		case i == m.table.TypeMember() && c.Kind() == jsonscan.String:
			text, _ := c.Text()
			return m.table.Shape(text)
		case i == m.table.TypeMember():
			return nil
		default:
			isOther = isOther && i != untyped.Beside
			c.Skip()
		}
	}
	if isOther {
		return nil
	}
	return untyped.Shape
}

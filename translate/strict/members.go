package strict

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/schema"
)

// Members is what a pass knows of the members of an object that it has read.
type Members struct {
	table *schema.Table
	shape *schema.Shape                    // nil for an unknown type
	kinds [schema.MaxMembers]jsonscan.Kind // of the members, Invalid for absent ones
}

// Kind returns the kind of a member of the table, Invalid for an absent one.
func (m *Members) Kind(name string) jsonscan.Kind {
	return m.kinds[slices.Index(m.table.Names(), name)] // faster than Find for few members
}

// Type returns the type of the object, "" if the table does not have the type.
func (m *Members) Type() string { return m.shape.Type() }

// wantMember checks a member that an object must have.
func (v *Value) wantMember(m *Members, n *schema.Need) {
	switch kind := m.kinds[n.Index]; {
	case Missing(kind) && n.Optional:
	case Missing(kind) || n.Texts == "":
		v.WantKind(n.Name, kind, n.Kind)
	case kind != jsonscan.String && kind != jsonscan.Array:
		v.NoteMember(n.Name, n.Texts+", got "+kind.String())
	}
}

// Find returns the index in the table of a member, and its kind, Invalid for an absent one.
func (m *Members) Find(name string) (i int, kind jsonscan.Kind) {
	i = slices.Index(m.table.Names(), name)
	return i, m.kinds[i]
}

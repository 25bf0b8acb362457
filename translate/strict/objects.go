package strict

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// options reads an object only to find repeated members. A value of another kind is skipped
// without a fault.
func (v *Value) options() {
	for v.JSON.OpenObject(); v.Member(); {
		v.JSON.Skip()
	}
}

// wantObject notes a fault of a value that is not an object.
func (v *Value) wantObject() {
	if v.JSON.Kind() != jsonscan.Object {
		v.Note("must be an object")
	}
}

// groups is options, which looks into the objects inside of which the format has rows.
func (v *Value) groups(objects *Table) {
	for v.JSON.OpenObject(); v.Member(); {
		if i := objects.Members.Find(v.JSON.Name()); i >= 0 && objects.Values[i].Objects != nil {
			v.push(objects.Members.Names()[i])
			v.options()
			v.pop()
		} else {
			v.JSON.Skip()
		}
	}
}

// Missing reports whether a member is absent or null, given its kind. The kind of an
// absent member is Invalid.
func Missing(kind jsonscan.Kind) bool { return kind == jsonscan.Invalid || kind == jsonscan.Null }

// WantKind checks the kind of a member that the object at the path must have. The kind of
// an absent member is Invalid; wanted is Invalid if any kind is allowed.
func (v *Value) WantKind(name string, kind, wanted jsonscan.Kind) {
	switch {
	case Missing(kind):
		v.NoteMember(name, Required)
	case wanted != jsonscan.Invalid && kind != wanted:
		v.NoteMember(name, must(wanted)+", got "+kind.String())
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

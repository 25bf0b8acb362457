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
		if i := objects.Find(v.JSON.Name()); i >= 0 && objects.checks[i].objects != nil {
			v.push(objects.Names()[i])
			v.options()
			v.pop()
		} else {
			v.JSON.Skip()
		}
	}
}

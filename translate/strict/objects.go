package strict

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Options reads an object of options only to find repeated members, and reports whether
// the value is an object. A value of another kind is skipped without a fault. The inner
// members are objects of options themselves.
func (v *Value) Options(inner ...string) (isObject bool) {
	isObject = v.JSON.OpenObject()
	for v.Member() {
		v.option(inner)
	}
	return isObject
}

// option reads a member of an object of options.
func (v *Value) option(inner []string) {
	for _, name := range inner {
		if string(v.JSON.Name()) == name {
			v.OptionsOf(name)
			return
		}
	}
	v.JSON.Skip()
}

// OptionsOf is Options for the member with that name, whose value is at the cursor.
func (v *Value) OptionsOf(name string) (isObject bool) {
	v.Push(name)
	isObject = v.Options()
	v.Pop()
	return isObject
}

// wantObject notes a fault of a value that is not an object.
func (v *Value) wantObject() {
	if v.JSON.Kind() != jsonscan.Object {
		v.Note("must be an object")
	}
}

// groups is Options, which looks into the objects inside of which the format has rows.
func (v *Value) groups(objects *Table) {
	for v.JSON.OpenObject(); v.Member(); {
		if i := objects.Members.Find(v.JSON.Name()); i >= 0 && objects.Values[i].Objects != nil {
			v.OptionsOf(objects.Members.Names()[i])
		} else {
			v.JSON.Skip()
		}
	}
}

// WantTyped checks an object that has a string as its type. The inner members are objects of
// options.
func (v *Value) WantTyped(inner ...string) {
	if !v.JSON.EnterObject() {
		v.Refuse("must be an object")
		return
	}
	kind := jsonscan.Invalid
	for v.Member() {
		if string(v.JSON.Name()) == "type" {
			kind = v.JSON.Kind()
			v.JSON.Skip()
		} else {
			v.option(inner)
		}
	}
	v.WantKind("type", kind, jsonscan.String)
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

// wantStrings checks an array of strings; what is the requirement in the message.
func (v *Value) wantStrings(what string) {
	v.Elements(what, func(int) { v.WantString("must be a string") })
}

package strict

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Options reads an object of options only to find repeated members, and reports whether
// the value is an object. A value of another kind is skipped without a fault.
func (p *Pass) Options() bool {
	isObject := p.OpenObject()
	for p.Member() {
		p.Skip()
	}
	return isObject
}

// OptionsWith is Options for an object whose inner members are objects of options themselves.
func (p *Pass) OptionsWith(inner ...string) {
	for p.OpenObject(); p.Member(); {
		p.optionOr(inner)
	}
}

// WantObject is OptionsWith, but the value must be an object.
func (p *Pass) WantObject(inner ...string) {
	if p.Kind() != jsonscan.Object {
		p.Note("must be an object")
	}
	p.OptionsWith(inner...)
}

// optionOr reads a member of an object of options.
func (p *Pass) optionOr(inner []string) {
	for _, name := range inner {
		if string(p.Name()) == name {
			p.Push(name)
			p.Options()
			p.Pop()
			return
		}
	}
	p.Skip()
}

// Map is Options for an object whose names the client chooses and which are therefore
// case-sensitive.
func (p *Pass) Map() {
	if !p.EnterMap() {
		p.Skip()
		return
	}
	for p.Member() {
		p.Skip()
	}
}

// WantMap is Map, but the value must be an object.
func (p *Pass) WantMap() {
	if p.Kind() != jsonscan.Object {
		p.Note("must be an object")
	}
	p.Map()
}

// WantTyped checks an object that has a string as its type. The inner members are objects of
// options.
func (p *Pass) WantTyped(inner ...string) {
	if !p.EnterObject() {
		p.Refuse("must be an object")
		return
	}
	kind := jsonscan.Invalid
	for p.Member() {
		if string(p.Name()) == "type" {
			kind = p.Kind()
			p.Skip()
		} else {
			p.optionOr(inner)
		}
	}
	p.WantKind("type", kind, jsonscan.String)
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
		p.NoteMember(name, Must(wanted)+", got "+kind.String())
	}
}

// Must returns the requirement that a value is of a kind.
func Must(kind jsonscan.Kind) string {
	switch kind {
	case jsonscan.Array, jsonscan.Object:
		return "must be an " + kind.String()
	default:
		return "must be a " + kind.String()
	}
}

// WantStrings checks an array of strings; what is the requirement in the message.
func (p *Pass) WantStrings(what string) {
	p.Elements(what, func(int) { p.WantString("must be a string") })
}

// WantStop checks the stop texts of chat and completions requests: one, or an
// array of them.
func (p *Pass) WantStop() {
	if _, ok := p.RawString(); !ok {
		p.WantStrings("must be a string or an array of strings")
	}
}

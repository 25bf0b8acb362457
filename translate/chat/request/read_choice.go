package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// choice reads the choice among the tools: a word, or an object that names tools.
func (r *reader) choice(raw []byte) {
	if isAbsent(raw) {
		return
	}
	if raw[0] != '{' {
		r.x.SetWord("tool_choice", raw)
		return
	}
	o := &r.item
	o.ReadRaw(r.x, raw, choiceShapes, "tool_choice")
	s := o.Shape()
	o.LoseOthers(r.x, s)
	switch kind := o.Raw("type"); s.Type() {
	case "function":
		r.chooseNamed(kind, o.Raw("function"), "tool_choice.function")
	case "custom":
		if r.x.Keep(core.FreeChoice, kind) {
			r.chooseNamed(kind, o.Raw("custom"), "tool_choice.custom")
		}
	case "allowed_tools":
		r.allowedTools(o.Raw("allowed_tools"), "tool_choice.allowed_tools")
	default:
		r.x.Lose(unknownChoiceRow, kind)
	}
}

// chooseNamed keeps the choice of the tool that the object at a path names.
func (r *reader) chooseNamed(kind, raw []byte, path string) {
	r.x.SetOption(namedChoiceRow, kind)
	r.x.SetOption(choiceNameRow, r.chosenName(raw, path))
}

// chosenName returns the raw name in the object at a path, which has no other member.
func (r *reader) chosenName(raw []byte, path string) []byte {
	if !r.isObject(raw, path) {
		return nil
	}
	r.readInner(raw, chosenMembers, path)
	name := r.inner.Raw("name")
	if !jsonscan.IsString(name) {
		r.x.Invalid(path+".name", "must be a string")
	}
	return name
}

const allowedPath = "tool_choice.allowed_tools.tools"

// allowedTools reads the list of allowed tools, and whether one of them must be used.
func (r *reader) allowedTools(raw []byte, path string) {
	if !r.isObject(raw, path) {
		return
	}
	o := &r.item
	o.ReadRaw(r.x, raw, allowedMembers, path)
	r.x.SetWord(path+".mode", o.Raw("mode"))
	r.allowed = core.NewAllowedTools()
	r.allowedNames(o.Raw("tools"))
	if r.x.Options.Has(core.ToolChoiceRequired) && r.allowed.Empty() {
		r.x.Invalid(allowedPath, "must hold at least one tool where the mode is 'required'")
	}
}

// allowedNames reads the references to the tools.
func (r *reader) allowedNames(raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		r.x.Invalid(allowedPath, "must be an array of objects")
		return
	}
	for r.elements(raw, allowedPath); r.element(); {
		r.item.Read(r.x, &r.list, choiceShapes, "")
		switch kind := r.item.Raw("type"); r.item.Shape().Type() {
		case "function":
			r.allow("function")
		case "custom":
			if r.x.KeepAs(core.FreeChoice, freeAllowedRow, kind) {
				r.allow("custom")
			}
		default:
			r.x.Lose(foreignAllowedRow, kind)
		}
	}
}

// allow adds the tool that a reference of a type names.
func (r *reader) allow(kind string) {
	r.item.LoseOthers(r.x, choiceShapes.Named(kind))
	r.allowed.Allow(jsonscan.TextOf(r.chosenName(r.item.Raw(kind), kind)))
}

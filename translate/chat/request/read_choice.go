package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The members of a choice among the tools.
const (
	choiceType = iota
	choiceFunction
	choiceCustom
	choiceAllowed
)

const (
	allowedMode = iota
	allowedList
)

var (
	choiceMembers  = core.NewNames("type", "function", "custom", "allowed_tools")
	chosenMembers  = core.NewNames("name")
	allowedMembers = core.NewNames("mode", "tools")
)

// choice reads the choice among the tools: a word, or an object that names some.
func (r *reader) choice(raw []byte) {
	if isAbsent(raw) {
		return
	}
	if raw[0] != '{' {
		r.wish("tool_choice", raw, unknownWishRow)
		return
	}
	c := jsonscan.Again(raw)
	o := &r.item
	o.Read(r.x, &c, choiceMembers, "tool_choice.")
	switch kind := o.Raw(choiceType); string(word(o, choiceType)) {
	case "function":
		o.LoseOthers(r.x, core.SetOf(choiceType, choiceFunction), choiceMembers, "tool_choice.")
		r.x.SetOption(namedChoiceRow, kind)
		r.x.SetOption(choiceNameRow, r.chosenName(o.Raw(choiceFunction), "tool_choice.function"))
	case "custom":
		o.LoseOthers(r.x, core.SetOf(choiceType, choiceCustom), choiceMembers, "tool_choice.")
		if r.x.Keep(core.FreeChoice, kind) {
			r.x.SetOption(namedChoiceRow, kind)
			r.x.SetOption(choiceNameRow, r.chosenName(o.Raw(choiceCustom), "tool_choice.custom"))
		}
	case "allowed_tools":
		o.LoseOthers(r.x, core.SetOf(choiceType, choiceAllowed), choiceMembers, "tool_choice.")
		r.allowedTools(o.Raw(choiceAllowed), "tool_choice.allowed_tools")
	default:
		r.x.Lose(unknownChoiceRow, kind)
	}
}

// wish keeps a word for how the tools are to be used.
func (r *reader) wish(path string, raw []byte, unknown *core.Row) {
	if row := rows.Value(path, jsonscan.TextOf(raw)); row != unknown {
		r.x.SetOption(row, raw)
	} else {
		r.x.Lose(unknown, raw)
	}
}

// chosenName returns the name in an object that has nothing else.
func (r *reader) chosenName(raw []byte, path string) []byte {
	if !r.isObject(raw, path) {
		return nil
	}
	c := jsonscan.Again(raw)
	r.inner.Read(r.x, &c, chosenMembers, path+".")
	name := r.inner.Raw(0)
	if !jsonscan.IsString(name) {
		r.x.Invalid(path+".name", "must be a string")
	}
	return name
}

const allowedPath = "tool_choice.allowed_tools.tools"

// allowedTools reads which tools may be used at all, and whether one must be.
func (r *reader) allowedTools(raw []byte, path string) {
	if !r.isObject(raw, path) {
		return
	}
	c := jsonscan.Again(raw)
	o := &r.item
	o.Read(r.x, &c, allowedMembers, path+".")
	r.wish(path+".mode", o.Raw(allowedMode), unknownModeRow)
	r.allowed = core.NewAllowedTools()
	r.allowedNames(o.Raw(allowedList))
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
		r.item.Read(r.x, &r.list, choiceMembers, "")
		switch kind := r.item.Raw(choiceType); string(word(&r.item, choiceType)) {
		case "function":
			r.allow(choiceFunction, "function")
		case "custom":
			if r.x.KeepAs(core.FreeChoice, freeAllowedRow, kind) {
				r.allow(choiceCustom, "custom")
			}
		default:
			r.x.Lose(foreignAllowedRow, kind)
		}
	}
}

// allow notes the reference to a tool: the object of that member.
func (r *reader) allow(member int, path string) {
	r.item.LoseOthers(r.x, core.SetOf(choiceType, member), choiceMembers, "")
	r.allowed.Allow(jsonscan.TextOf(r.chosenName(r.item.Raw(member), path)))
}

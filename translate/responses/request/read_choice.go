package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readChoice reads the choice among the tools: a word, or an object that names some.
func (r *requestReader) readChoice() {
	switch raw := r.choice; {
	case len(raw) == 0 || raw[0] == 'n':
	case raw[0] != '{':
		r.x.SetWord("tool_choice", raw)
	default:
		r.part.ReadRaw(r.x, raw, choiceShapes, "tool_choice")
		r.chosen()
	}
}

// chosen reads the object at hand.
func (r *requestReader) chosen() {
	s := r.part.Shape()
	r.part.LoseOthers(r.x, s)
	switch kind := r.part.Raw("type"); s.Type() {
	case "function", "custom":
		r.x.SetOption(namedChoiceRow, kind)
		r.x.SetOption(choiceNameRow, r.chosenName("tool_choice.name"))
	case "allowed_tools":
		r.x.SetWord("tool_choice.mode", r.part.Raw("mode"))
		r.allowedTools(r.part.Raw("tools"))
	default:
		r.x.Lose(unknownChoiceRow, kind)
	}
}

// chosenName returns the raw name by which the writer knows the tool that is named in
// the object at hand, at a path.
func (r *requestReader) chosenName(path string) []byte {
	name, namespace := r.part.Raw("name"), r.part.Raw("namespace")
	switch {
	case !jsonscan.IsString(name):
		r.x.Invalid(path, "must be a string")
	case r.isNamespace(namespace, path):
		return append(flatName([]byte{'"'}, namespace, name), '"')
	}
	return name
}

const allowedPath = "tool_choice.tools"

// allowedTools reads which tools may be used at all.
func (r *requestReader) allowedTools(raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		r.x.Invalid(allowedPath, "must be an array of objects")
		return
	}
	a := core.NewAllowedTools()
	r.toolList.allowed = a
	for r.elements(raw, allowedPath); r.element(choiceShapes); {
		switch kind := r.part.Raw("type"); string(jsonscan.DecodedOf(kind)) {
		case "function", "custom":
			r.part.LoseOthers(r.x, r.part.Shape())
			a.Allow(jsonscan.TextOf(r.chosenName("name")))
		default:
			r.x.Lose(foreignAllowedRow, kind)
		}
	}
	if r.x.Options.Has(core.ToolChoiceRequired) && a.Empty() {
		r.x.Invalid(allowedPath, "must hold at least one tool where the mode is 'required'")
	}
}

package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The members of a choice among the tools, and of a reference to one.
const (
	choiceType = iota
	choiceName
	choiceNamespace
	choiceMode
	choiceTools
)

var (
	choiceMembers = core.NewNames("type", "name", "namespace", "mode", "tools")

	namedMembers   = core.SetOf(choiceType, choiceName, choiceNamespace)
	allowedMembers = core.SetOf(choiceType, choiceMode, choiceTools)
)

// readChoice reads the choice among the tools: a word, or an object that names some.
func (r *requestReader) readChoice() {
	switch raw := r.choice; {
	case len(raw) == 0 || raw[0] == 'n':
	case raw[0] != '{':
		r.wish("tool_choice", raw, unknownWishRow)
	default:
		c := jsonscan.Again(raw)
		r.part.Read(r.x, &c, choiceMembers, "tool_choice.")
		r.chosen()
	}
}

// chosen reads the object at hand.
func (r *requestReader) chosen() {
	switch kind := r.part.Raw(choiceType); string(jsonscan.Inner(kind)) {
	case "function", "custom":
		r.part.LoseOthers(r.x, namedMembers, choiceMembers, "tool_choice.")
		r.x.SetOption(namedChoiceRow, kind)
		r.x.SetOption(choiceNameRow, r.chosenName("tool_choice.name"))
	case "allowed_tools":
		r.part.LoseOthers(r.x, allowedMembers, choiceMembers, "tool_choice.")
		r.wish("tool_choice.mode", r.part.Raw(choiceMode), unknownModeRow)
		r.allowedTools(r.part.Raw(choiceTools))
	default:
		r.x.Lose(unknownChoiceRow, kind)
	}
}

// wish keeps a word for how the tools are to be used.
func (r *requestReader) wish(path string, raw []byte, unknown *core.Row) {
	if row := rows.Value(path, jsonscan.TextOf(raw)); row != unknown {
		r.x.SetOption(row, raw)
	} else {
		r.x.Lose(unknown, raw)
	}
}

// chosenName returns the raw name by which the writer knows the tool that is named in
// the object at hand, at a path.
func (r *requestReader) chosenName(path string) []byte {
	name, namespace := r.part.Raw(choiceName), r.part.Raw(choiceNamespace)
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
	for r.elements(raw, allowedPath); r.element(choiceMembers); {
		switch kind := r.part.Raw(choiceType); string(jsonscan.Inner(kind)) {
		case "function", "custom":
			r.part.LoseOthers(r.x, namedMembers, choiceMembers, "")
			a.Allow(jsonscan.TextOf(r.chosenName("name")))
		default:
			r.x.Lose(foreignAllowedRow, kind)
		}
	}
	if r.x.Options.Has(core.ToolChoiceRequired) && a.Empty() {
		r.x.Invalid(allowedPath, "must hold at least one tool where the mode is 'required'")
	}
}

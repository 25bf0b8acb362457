package parts

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// AppendTools appends the tools of a request, each with a comma before it, and the
// choice among them, unless there are no tools. appendNamed appends the choice of a
// tool by its kind and the name that the provider gets.
func AppendTools(dst *core.Members, x *core.Translation, tools []byte, names *core.ToolNames, appendNamed func(dst []byte, kind string, name []byte) []byte) {
	names.Check(x)
	if len(tools) == 0 {
		if x.Options.ForcesTool() {
			x.Keep(core.ToolChoiceWithoutTools, nil)
		}
		return
	}
	dst.Name("tools")
	*dst = append(append(append(*dst, '['), tools[1:]...), ']')
	switch x.Options.OneOf(core.ToolChoiceAuto, core.ToolChoiceNamed) {
	case core.ToolChoiceAuto:
		dst.Word("tool_choice", "auto")
	case core.ToolChoiceRequired:
		dst.Word("tool_choice", "required")
	case core.ToolChoiceNone:
		dst.Word("tool_choice", "none")
	case core.ToolChoiceNamed:
		if kind, name := chosen(x, names); kind != "" {
			dst.Name("tool_choice")
			*dst = appendNamed(*dst, kind, name)
		}
	}
	if jsonscan.IsTrue(x.Options.Raw(core.OneCallAtATime)) {
		dst.Raw("parallel_tool_calls", []byte("false"))
	}
}

// chosen returns the kind and the name of the tool that must be used. If the request
// has no such tool, chosen reports the loss and returns the kind "".
func chosen(x *core.Translation, names *core.ToolNames) (kind string, name []byte) {
	option := x.Options[core.ToolChoiceName]
	free, ok := names.Find(option.Raw)
	switch {
	case !ok:
		x.Lose(option.Row, nil)
		return "", nil
	case free:
		kind = "custom"
	default:
		kind = "function"
	}
	return kind, names.AppendTo(nil, jsonscan.Inner(option.Raw))
}

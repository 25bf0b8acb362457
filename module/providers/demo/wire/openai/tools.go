package openai

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// ReadToolName reads the name of an offered tool.
func ReadToolName(tool wire.Object) string {
	name := tool.Need("name")
	if len(name) > 64 || !wire.IsWord(name) {
		tool.Fail("name", "must match ^[a-zA-Z0-9_-]{1,64}$")
	}
	return name
}

var choiceModes = map[string]reply.ChoiceMode{
	"auto": reply.ChoiceAuto, "none": reply.ChoiceNone, "required": reply.ChoiceAny,
}

// ReadToolChoice reads tool_choice: a word, or an object, for which it calls named. The tools
// must be read before.
func ReadToolChoice(b *wire.Body, r *reply.Request, named func(wire.Object) reply.ToolChoice) {
	switch raw := b.Raw("tool_choice"); {
	case raw == nil:
		return
	case wire.Quoted(raw):
		r.Choice.Mode = choiceModes[b.OneOf("tool_choice", "none", "auto", "required")]
	default:
		choice, _ := b.Sub("tool_choice")
		chosen := named(choice)
		r.Choice.Mode, r.Choice.Name = chosen.Mode, chosen.Name
	}
	if r.Choice.Mode == reply.ChoiceAny && !r.Offers(r.Choice.Name) {
		b.Fail("tool_choice", "no such tool is offered")
	}
}

// ReadAllowedTools reads the mode of a choice among several tools. It ignores their names, and
// allows every offered tool.
func ReadAllowedTools(o wire.Object) reply.ToolChoice {
	return reply.ToolChoice{Mode: choiceModes[o.OneOf("mode", "auto", "required")]}
}

// OneTool is the choice of the tool that o names.
func OneTool(o wire.Object) reply.ToolChoice {
	return reply.ToolChoice{Mode: reply.ChoiceAny, Name: o.Need("name")}
}

package pairs

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// Tool adds a tool.
func (x *messagesChat) Tool(index int, t *messages.Tool) {
	if x.fault != nil {
		return
	}
	at := place{name: "tools", index: index, lost: lostTool}
	if kind := inner(t.Type); t.Type != nil && (kind == nil || len(kind) > 0 && string(kind) != "custom") {
		x.unsupportedTool(t, &at)
		return
	}
	if len(inner(t.Name)) == 0 {
		x.invalid(at.path("name"), "required")
		return
	}
	x.checkCallers(t, &at)
	x.rememberTool(index, t.Name)
	x.addFunction(t)
}

// addFunction adds the function that a tool is to chat providers. Only what is
// named here is copied, so that no other member can land in the function.
func (x *messagesChat) addFunction(t *messages.Tool) {
	x.tools = append(x.tools, `,{"type":"function","function":{"name":"`...)
	x.tools = x.appendToolName(x.tools, t.Name)
	x.tools = append(x.tools, '"')
	if t.Description != nil {
		x.tools = append(x.tools, `,"description":`...)
		x.tools = append(x.tools, t.Description...)
	}
	if t.InputSchema != nil {
		x.tools = append(x.tools, `,"parameters":`...)
		x.tools = appendSchema(x.tools, t.InputSchema)
	}
	if t.Strict != nil {
		x.tools = append(x.tools, `,"strict":`...)
		x.tools = append(x.tools, t.Strict...)
	}
	x.tools = append(x.tools, `}}`...)
}

// unsupportedTool refuses or drops a tool that the vendor defines.
func (x *messagesChat) unsupportedTool(t *messages.Tool, at *place) {
	if !x.traits.DropUnsupportedTools {
		x.refuseBy(&withoutTools, at.path("type"), shown(t.Type))
		return
	}
	x.losses.AddIn(translate.Hint, lostTool, "type")
}

// checkCallers refuses a tool that only the vendor's own code may call.
func (x *messagesChat) checkCallers(t *messages.Tool, at *place) {
	if t.AllowedCallers == nil {
		return
	}
	x.options = jsonscan.Again(t.AllowedCallers)
	if !x.options.EnterArray() {
		x.invalid(at.path("allowed_callers"), "must be an array of strings")
		return
	}
	direct := false
	for x.options.Element() {
		direct = string(inner(x.options.Skip())) == "direct" || direct
	}
	if !direct {
		x.refuse(at.path("allowed_callers"), "")
	}
}

// toolName is the name of a tool that is sent.
type toolName struct {
	raw   []byte
	index int // in the client's list
}

// rememberTool keeps the name of a tool for the choice of one, and for the way
// back when the provider knows it by another.
func (x *messagesChat) rememberTool(index int, raw []byte) {
	x.toolNames = append(x.toolNames, toolName{raw, index})
	if translate.PlainToolName(inner(raw)) {
		return
	}
	name := textOf(raw)
	if translate.PlainToolName([]byte(name)) {
		return
	}
	if x.memory.Names == nil {
		x.memory.Names = make(map[string]string)
	}
	x.memory.Names[string(translate.AppendToolName(nil, []byte(name)))] = name
}

// checkToolNames refuses a tool whose name is the one that the provider would
// know another tool by: a call of the one would reach the client as a call of
// the other.
func (x *messagesChat) checkToolNames() {
	for i := 0; len(x.memory.Names) > 0 && i < len(x.toolNames); i++ {
		name := textOf(x.toolNames[i].raw)
		x.scratch = translate.AppendToolName(x.scratch[:0], []byte(name))
		if other, mapped := x.memory.Names[string(x.scratch)]; mapped && other != name {
			x.invalid("tools."+strconv.Itoa(x.toolNames[i].index)+".name", "is what the name of another tool becomes for the provider")
		}
	}
}

// appendSchema appends a schema, with the type that chat providers ask for.
func appendSchema(dst, schema []byte) []byte {
	if schema[0] != '{' || jsonscan.HasMember(schema, "type") {
		return append(dst, schema...)
	}
	dst = append(dst, `{"type":"object"`...)
	if !isEmptyList(schema) {
		dst = append(dst, ',')
	}
	return append(dst, schema[1:]...)
}

// writeTools writes the tools and the choice among them, which without tools
// means nothing.
func (x *messagesChat) writeTools() {
	x.checkToolNames()
	if len(x.tools) > 0 {
		x.name("tools")
		x.out = append(x.out, '[')
		x.out = append(x.out, x.tools[1:]...)
		x.out = append(x.out, ']')
	}
	if x.request.ToolChoice == nil {
		return
	}
	choice, ok := x.readChoice()
	switch {
	case !ok:
	case len(x.tools) == 0:
		x.loseChoice(choice.kind)
	default:
		x.writeChoice(&choice)
		if choice.oneByOne {
			x.field("parallel_tool_calls", []byte("false"))
		}
	}
}

// loseChoice reports a choice among tools that are not there, where it demands
// the use of one.
func (x *conversion) loseChoice(kind string) {
	switch kind {
	case "any", "tool", "required", "function":
		x.shaping("tool_choice")
	}
}

// toolChoice is what the client says of the tools it wants used.
type toolChoice struct {
	kind     string
	name     []byte // raw
	oneByOne bool
}

func (x *messagesChat) readChoice() (choice toolChoice, ok bool) {
	if !x.object(x.request.ToolChoice, "tool_choice") {
		return choice, false
	}
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			choice.kind = textOf(x.option())
		case "name":
			choice.name = x.option()
		case "disable_parallel_tool_use":
			choice.oneByOne = isTrue(x.option())
		default:
			x.losses.AddNamed(translate.Hint, "tool_choice.", name)
			x.options.Skip()
		}
	}
	return choice, true
}

func (x *messagesChat) writeChoice(choice *toolChoice) {
	switch choice.kind {
	case "auto":
		x.text("tool_choice", "auto")
	case "any":
		x.text("tool_choice", "required")
	case "none":
		x.text("tool_choice", "none")
	case "tool":
		if !x.hasTool(choice.name) {
			x.refuse("tool_choice.name", "")
			return
		}
		x.name("tool_choice")
		x.out = append(x.out, `{"type":"function","function":{"name":"`...)
		x.out = x.appendToolName(x.out, choice.name)
		x.out = append(x.out, `"}}`...)
	default:
		x.refuse("tool_choice.type", shownText([]byte(choice.kind)))
	}
}

// hasTool reports whether a tool has that raw name, however it is escaped.
func (x *messagesChat) hasTool(raw []byte) bool {
	name := jsonscan.AppendText(nil, raw)
	for _, other := range x.toolNames {
		if x.scratch = jsonscan.AppendText(x.scratch[:0], other.raw); bytes.Equal(x.scratch, name) {
			return true
		}
	}
	return false
}

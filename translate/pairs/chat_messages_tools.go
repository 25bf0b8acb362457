package pairs

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// toolWish is what the client says of the tools it wants used.
type toolWish struct {
	kind     string          // in the words of the format; "" where the client has no wish
	path     string          // of the name
	name     []byte          // raw; of the one tool that must be used
	named    []string        // the tools that may be used, where some may not, in the client's order
	allowed  map[string]bool // the same, to be looked up; nil where all may
	oneByOne bool
}

// forced reports whether a tool must be used.
func (w *toolWish) forced() bool { return w.kind == "any" || w.kind == "tool" }

// readTools reads the tools and the choice among them.
func (x *chatMessages) readTools() {
	x.readWish()
	x.in, x.item = "tools", -1
	var known map[string]bool // where the wish names tools
	if w := &x.choice; w.kind == "tool" || w.allowed != nil {
		known = make(map[string]bool)
	}
	for x.list.Begin(x.request.Tools, x); x.fault == nil; {
		x.item++
		t := x.list.Tool(chat.InTool)
		if t == nil {
			break
		}
		if name := x.tool(t); name != nil && known != nil {
			known[textOf(name)] = true
		}
	}
	x.checkWish(known)
}

// checkWish refuses a wish for tools that are not there.
func (x *chatMessages) checkWish(known map[string]bool) {
	w := &x.choice
	if w.kind == "tool" && len(known) > 0 && !known[textOf(w.name)] {
		x.refuse(w.path, "")
	}
	for i, name := range w.named {
		if !known[name] {
			x.refuse("tool_choice.allowed_tools.tools["+strconv.Itoa(i)+"].function.name", "")
			return
		}
	}
}

// tool adds a tool that the client allows, and returns its raw name.
func (x *chatMessages) tool(t *chat.Tool) (name []byte) {
	if string(inner(t.Type)) != "function" {
		x.unsupportedTool(t)
		return nil
	}
	f := x.inside.Function(t.Function, chat.InToolFunction, x)
	x.toolStrays(t, f)
	switch {
	case len(inner(f.Name)) == 0:
		x.invalid(x.itemPath("function.name"), "required")
		return nil
	case x.choice.allowed != nil && !x.choice.allowed[textOf(f.Name)]:
		return nil
	case f.Parameters != nil && f.Parameters[0] != '{':
		x.invalid(x.itemPath("function.parameters"), "must be an object")
		return nil
	}
	x.addTool(f)
	if t.CacheControl != nil {
		x.mark(&x.tools, t.CacheControl, "cache_control", lostTools)
	}
	return f.Name
}

// unsupportedTool refuses or drops a tool that is no function.
func (x *chatMessages) unsupportedTool(t *chat.Tool) {
	if x.traits.DropUnsupportedTools {
		x.losses.AddIn(translate.Hint, lostTools, "type")
		return
	}
	x.refuseBy(&withoutTools, x.itemPath("type"), shown(t.Type))
}

func (x *chatMessages) addTool(f *chat.Function) {
	d := &x.tools
	d.begin("", `{"name":`)
	d.buf = append(d.buf, f.Name...)
	if f.Description != nil {
		d.buf = append(append(d.buf, `,"description":`...), f.Description...)
	}
	d.buf = append(d.buf, `,"input_schema":`...)
	if f.Parameters == nil {
		d.buf = append(d.buf, `{"type":"object","properties":{}}`...)
	} else {
		d.buf = appendSchema(d.buf, f.Parameters)
	}
	if f.Strict != nil {
		d.buf = append(append(d.buf, `,"strict":`...), f.Strict...)
	}
	d.buf = append(d.buf, '}')
}

// readWish reads which tools the client wants used.
func (x *chatMessages) readWish() {
	w := &x.choice
	*w = toolWish{oneByOne: string(x.request.ParallelToolCalls) == "false"}
	raw := x.request.ToolChoice
	switch {
	case raw == nil:
	case raw[0] == '{':
		x.readNamed(raw)
	default:
		if w.kind = choiceWords[textOf(raw)]; w.kind == "" {
			x.refuse("tool_choice", shown(raw))
		}
	}
}

var choiceWords = map[string]string{"none": "none", "auto": "auto", "required": "any"}

// readNamed reads a choice that names tools.
func (x *chatMessages) readNamed(raw []byte) {
	var kind, function, allowed []byte
	x.object(raw, "tool_choice")
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			kind = x.option()
		case "function":
			function = x.option()
		case "allowed_tools":
			allowed = x.option()
		default:
			x.losses.AddNamed(translate.Hint, "tool_choice.", name)
			x.options.Skip()
		}
	}
	switch string(inner(kind)) {
	case "function":
		x.foreign(&member{"allowed_tools", allowed}, "tool_choice.")
		x.choice.kind, x.choice.path = "tool", "tool_choice.function.name"
		x.choice.name = x.functionName(function, "tool_choice.function", "tool_choice.function.")
	case "allowed_tools":
		x.foreign(&member{"function", function}, "tool_choice.")
		x.readAllowed(allowed)
	default:
		x.refuse("tool_choice.type", shown(kind))
	}
}

// functionName reads the name out of an object that has nothing else; lost is
// the path of losses in it.
func (x *chatMessages) functionName(raw []byte, path, lost string) (name []byte) {
	if !x.object(raw, path) {
		return nil
	}
	for x.options.Member() {
		if member := x.options.Name(); string(member) == "name" {
			name = x.option()
		} else {
			x.losses.AddNamed(translate.Hint, lost, member)
			x.options.Skip()
		}
	}
	if !isString(name) {
		x.invalid(path+".name", "must be a string")
	}
	return name
}

// readAllowed reads which tools may be used at all.
func (x *chatMessages) readAllowed(raw []byte) {
	const path = "tool_choice.allowed_tools"
	if !x.object(raw, path) {
		return
	}
	var mode, list []byte
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "mode":
			mode = x.option()
		case "tools":
			list = x.option()
		default:
			x.losses.AddNamed(translate.Hint, path+".", name)
			x.options.Skip()
		}
	}
	w := &x.choice
	if w.kind = choiceWords[textOf(mode)]; w.kind == "" || w.kind == "none" {
		x.refuse(path+".mode", shown(mode))
	}
	w.allowed = make(map[string]bool)
	x.readAllowedNames(list, path+".tools")
	if w.kind == "any" && len(w.named) == 0 {
		x.invalid(path+".tools", "must hold at least one tool where the mode is 'required'")
	}
}

func (x *chatMessages) readAllowedNames(raw []byte, path string) {
	c := jsonscan.Again(raw)
	if !c.EnterArray() {
		x.invalid(path, "must be an array of objects")
		return
	}
	for i := 0; c.Element() && x.fault == nil; i++ {
		x.readAllowedName(c.Skip(), path+"["+strconv.Itoa(i)+"]", path+"[*].")
	}
}

// readAllowedName reads the reference to a tool that may be used.
func (x *chatMessages) readAllowedName(raw []byte, at, lost string) {
	if !x.object(raw, at) {
		return
	}
	var kind, function []byte
	for x.options.Member() {
		switch name := x.options.Name(); string(name) {
		case "type":
			kind = x.option()
		case "function":
			function = x.option()
		default:
			x.losses.AddNamed(translate.Hint, lost, name)
			x.options.Skip()
		}
	}
	if string(inner(kind)) != "function" {
		x.refuse(at+".type", shown(kind))
		return
	}
	if raw := x.functionName(function, at+".function", lost+"function."); isString(raw) {
		name := textOf(raw)
		x.choice.allowed[name] = true
		x.choice.named = append(x.choice.named, name)
	}
}

// writeChoice writes the choice among the tools, which without them means nothing.
func (x *chatMessages) writeChoice() {
	w := &x.choice
	switch {
	case x.tools.empty():
		x.loseChoice(w.kind)
		return
	case w.kind == "" && !w.oneByOne:
		return
	}
	if w.kind == "" {
		w.kind = "auto"
	}
	x.name("tool_choice")
	x.out = append(x.out, `{"type":"`+w.kind+`"`...)
	if w.kind == "tool" {
		x.field("name", w.name)
	}
	if w.oneByOne && w.kind != "none" {
		x.field("disable_parallel_tool_use", []byte("true"))
	}
	x.out = append(x.out, '}')
}

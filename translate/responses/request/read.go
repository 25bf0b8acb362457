package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/responses/settings"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Source reads responses requests.
//
// Their clients are agents, which send no bound of their answers, and expect long ones.
var Source = core.Source{
	Rows: rows, New: func() core.Reader { return new(requestReader) }, Unbounded: (*trait.Traits).AgentTokens,
}

// requestReader reads a responses request.
type requestReader struct {
	x        *core.Translation
	w        core.Writer
	turns    turnReader
	tools    toolReader
	update   update          // the last change of settings in the input
	settings settings.Values // that the answer repeats

	item      core.Object     // of the input
	part      core.Object     // of the item
	freeCalls map[string]bool // the ids of calls that had a free text, as they are written
	step      step

	// The arguments of the writer's methods, kept here to save allocations.
	media  core.Media
	result core.Result
}

// toolsSetting is the setting that repeats the tools of the request.
var toolsSetting = settings.Index([]byte("tools"))

// Read reads a body.
func (r *requestReader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.tools.x = x, w, x
	r.turns.x, r.turns.w, r.turns.turn = x, w, parts.NewTurns(x, w, firstTextRow)
	var instructions, input, tools, choice []byte
	c := x.Info.Texts.Again(body)
	for c.OpenObject(); c.Member(); {
		setting, start := settings.Index(c.Name()), c.Offset()
		switch string(c.Name()) {
		case "instructions":
			instructions = c.Skip()
			if text := jsonscan.Inner(instructions); len(text) > 0 {
				x.Keep(core.SystemText, nil)
				w.Turn(core.Instructions)
				w.Text(text)
				w.EndTurn()
			}
		case "input":
			if instructions == nil { // they come first, wherever the member is
				input = c.Skip()
			} else {
				r.readInput(&c, instructions)
			}
		case "tools":
			tools = c.Skip()
		case "tool_choice":
			choice = c.Skip()
		case "include":
			readInclude(x, c.Skip())
		default:
			x.Member(&c)
		}
		r.settings.Set(setting, body[start:c.Offset()])
	}
	if input != nil {
		c := jsonscan.Again(input)
		r.readInput(&c, instructions)
	}
	r.tools.readChoice(choice)
	r.settings.Set(toolsSetting, r.tools.readTools(tools, w))
	r.update.apply(x)
	foldOptions(x)
	x.Answer.Reasoning.Hidden = !x.Options.Has(core.ReasoningShown)
	x.Answer.Settings = r.settings.Append(nil, jsonscan.IsTrue(x.Options.Raw(core.Stream)))
	return c.Finish()
}

// Forget lets go of the body.
func (r *requestReader) Forget() {
	*r = requestReader{
		turns: turnReader{thoughts: forgotten(r.turns.thoughts), calls: forgotten(r.turns.calls)},
		tools: toolReader{declared: forgotten(r.tools.declared)},
	}
}

// keptParts is the length of the longest list that waits for the next request.
const keptParts = 1024

// forgotten returns an empty list that holds nothing of a body.
func forgotten[T any](list []T) []T {
	if cap(list) > keptParts {
		return nil
	}
	clear(list[:cap(list)])
	return list[:0]
}

// readInput writes the conversation: items, or a text of the user. Some formats accept
// instructions without a text.
func (r *requestReader) readInput(c *jsonscan.Cursor, instructions []byte) {
	if c.Kind() == jsonscan.Array {
		for r.x.EnterList(c, "input"); r.x.NextElement(c); {
			start := c.Offset()
			if r.item.Read(r.x, c, itemTable, ""); r.step.holds(&r.item) {
				r.step.messages = append(r.step.messages, placed[[]byte]{r.x.At, c.Document()[start:c.Offset()]})
			} else {
				r.readItem()
			}
		}
		r.release()
		r.turns.end()
		return
	}
	raw := c.Skip()
	if !jsonscan.IsString(raw) {
		return
	}
	r.w.Turn(core.User)
	if text := jsonscan.Inner(raw); len(text) > 0 {
		r.w.Text(text)
	} else if len(jsonscan.Inner(instructions)) == 0 {
		r.x.Invalid("input", "must not be empty")
	}
	r.w.EndTurn()
}

// readItem writes the item at hand.
func (r *requestReader) readItem() {
	item, x := &r.item, r.x
	s := item.Shape()
	if !readItems.Has(s) {
		kind := item.Raw("type")
		x.Lose(rows.Value("input[*].type", jsonscan.TextOf(kind)), kind)
		return
	}
	item.LoseOthers(x, s)
	switch s.Type() {
	case "message":
		r.readMessage()
	case "reasoning":
		if thought, ok := r.readReasoning(); ok {
			r.turns.addThought(thought)
		}
	case "function_call", "custom_tool_call", "tool_search_call":
		if call, ok := r.readCall(s.Type()); ok {
			r.turns.addCall(call)
			r.step.call()
		}
	case "function_call_output", "custom_tool_call_output":
		if r.openResult() {
			r.readContent("output", core.User)
			r.closeResult()
		}
	case "tool_search_output":
		tools := item.Raw("tools")
		r.tools.add(x.At, tools)
		if string(item.Word("execution")) != "server" && len(item.Text("call_id")) > 0 && r.openResult() {
			c := jsonscan.Again(tools)
			for x.EnterList(&c, "tools"); x.NextElement(&c); {
				r.part.Read(x, &c, toolMembers, "")
				if name := r.part.Text("name"); len(name) > 0 {
					r.w.Text(name)
				}
			}
			r.closeResult()
		}
	case "additional_tools":
		if string(item.Word("role")) != roleDeveloper {
			item.LoseMembers(x, "role")
		}
		r.tools.add(x.At, item.Raw("tools"))
	case "configuration_update":
		r.update = update{x.At, item.Raw("reasoning"), item.Raw("text")}
	}
}

// readMessage writes a message. Those of the system are turns of their own.
func (r *requestReader) readMessage() {
	switch string(r.item.Word("role")) {
	case roleAssistant:
		r.release()
		r.turns.turn.Begun = true
		if !r.readContent("content", core.Assistant) {
			r.x.Keep(core.EmptyTurn, nil)
		}
	case roleUser:
		r.turns.beginUser(true)
		r.readContent("content", core.User)
	default:
		r.turns.beginSystem()
		r.readContent("content", core.System)
		if !r.turns.end() {
			r.x.Keep(core.EmptyTurn, nil)
		}
	}
}

// openResult begins the result of a tool, and reports whether the writer gets it.
func (r *requestReader) openResult() bool {
	if !r.x.Keep(core.ToolResult, r.item.Raw("type")) {
		return false
	}
	id := r.item.Text("call_id")
	if len(id) == 0 {
		r.x.Invalid("call_id", "required")
		return false
	}
	r.turns.beginUser(false)
	r.result = core.Result{ID: id, Free: r.freeCalls[string(id)]}
	r.w.OpenResult(&r.result)
	return true
}

// closeResult ends the result of a tool, and writes the messages that waited for it.
func (r *requestReader) closeResult() {
	r.w.CloseResult(false)
	if r.step.answer(); !r.step.open() {
		r.release()
	}
}

// readCall returns the call of a tool. ok is false if the writer does not get it. The text
// of a free call is wrapped for providers that have functions alone.
func (r *requestReader) readCall(kind string) (call core.Call, ok bool) {
	item, x := &r.item, r.x
	if kind == "tool_search_call" && string(item.Word("execution")) == "server" {
		x.Lose(serverSearchCallRow, nil)
		return call, false
	}
	r.turns.turn.Begun = true
	if !x.Keep(core.ToolCall, item.Raw("type")) {
		return call, false
	}
	call.ID = item.Text("call_id")
	if kind == "tool_search_call" {
		call.Name = []byte(searchName)
		if call.Input = item.Raw("arguments"); !isObject(call.Input) {
			x.Invalid("arguments", "must be an object")
		}
		return call, true
	}
	name, namespace := item.Raw("name"), item.Raw("namespace")
	if call.Name = jsonscan.Inner(name); isNamespace(x, namespace, "namespace") {
		call.Name = flatName(nil, namespace, name)
	}
	switch {
	case kind == "function_call":
		call.Text = item.Text("arguments")
	case x.Can(core.FreeTool):
		call.Free, call.Text = true, item.Text("input")
		if r.freeCalls == nil {
			r.freeCalls = make(map[string]bool)
		}
		r.freeCalls[string(call.ID)] = true
	default:
		call.Input = append(append([]byte(`{"input":`), item.Raw("input")...), '}')
	}
	return call, true
}

package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Source reads gemini requests.
//
// Their clients are agents, which send no bound of their answers, and expect long ones.
var Source = core.Source{
	Rows: rows, New: func() core.Reader { return new(reader) }, Unbounded: (*trait.Traits).AgentTokens,
}

// reader reads a gemini request (wire format B.14).
type reader struct {
	x       *core.Translation
	w       core.Writer
	turns   turns
	calls   calls
	allowed *core.AllowedTools // nil if all tools are

	object core.Object // of the request, or of a content
	part   core.Object
	data   core.Object // of a part, or of a tool

	// The arguments of the writer's methods, kept here to save allocations.
	args struct {
		call   core.Call
		result core.Result
		tool   core.Tool
	}
}

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	if !x.Keep(core.Conversation, nil) {
		return nil
	}
	r.x, r.w, r.calls.found = x, w, make(map[callKey]queue)
	r.turns.x, r.turns.w, r.turns.turn = x, w, parts.NewTurns(x, w, nil)
	c := x.Info.Texts.Again(body)
	r.readRequest(&c, "")
	if !r.turns.turn.Begun {
		x.Invalid("contents", "must have a part that is not empty")
	}
	if x.Info.Stream {
		x.Options[core.Stream] = core.Option{Raw: []byte("true"), Row: rows.Named("contents")}
	}
	r.foldOptions()
	x.Answer.Reasoning.Hidden = !x.Options.Has(core.ReasoningShown)
	x.Answer.Seals = x.Info.Seals
	return c.Finish()
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

// readRequest reads the request at the cursor, whose fields have the path prefix.
func (r *reader) readRequest(c *jsonscan.Cursor, prefix string) {
	x := r.x
	var inner, tools, choice []byte
	asked := false // there are contents
	for c.OpenObject(); c.Member(); {
		switch requestMembers.Name(c.Name()) {
		case "contents":
			asked = true
			for x.EnterList(c, prefix+"contents"); x.NextElement(c); {
				r.readContent(c)
			}
			r.turns.end()
		case "systemInstruction":
			r.readInstruction(c.Skip(), prefix)
		case "tools":
			tools = c.Skip()
		case "toolConfig":
			choice = c.Skip()
		case config:
			r.readConfig(c)
		case "safetySettings":
			readSafety(x, c.Skip())
		case wrapped:
			inner = c.Skip()
		default:
			x.Member(c)
		}
	}
	r.readChoice(choice)
	r.readTools(tools, prefix)
	switch {
	case jsonscan.Blank(inner):
	case asked:
		x.LoseMember("", []byte(wrapped))
	default:
		whole := jsonscan.Again(inner)
		r.readRequest(&whole, wrapped+".")
	}
}

// readInstruction writes the texts of the system instruction.
func (r *reader) readInstruction(raw []byte, prefix string) {
	x := r.x
	r.object.ReadRaw(x, raw, contentMembers, prefix+"systemInstruction")
	list := r.object.Raw("parts")
	if len(list) == 0 {
		return
	}
	x.Keep(core.SystemText, nil)
	r.w.Turn(core.Instructions)
	c := jsonscan.Again(list)
	for x.EnterList(&c, prefix+"systemInstruction.parts"); x.NextElement(&c); {
		r.part.Read(x, &c, partMembers, "")
		if text := r.part.Raw("text"); text == nil {
			x.Lose(systemPartRow, nil)
		} else if text := jsonscan.Inner(text); len(text) > 0 {
			r.w.Text(text)
		}
	}
	r.w.EndTurn()
}

// readContent reads a content. Parts in front of the role are read when it is known.
func (r *reader) readContent(c *jsonscan.Cursor) {
	o := &r.object
	for o.Enter(c, contentMembers, ""); o.Next(r.x, c); {
		if o.Name() == "parts" && o.Raw("role") != nil {
			r.readParts(c)
		} else {
			o.Keep(c)
		}
	}
	if list := o.Raw("parts"); list != nil {
		whole := jsonscan.Again(list)
		r.readParts(&whole)
	}
}

// readParts reads the parts of the content.
func (r *reader) readParts(c *jsonscan.Cursor) {
	role := core.User
	if string(r.object.Word("role")) == model {
		role = core.Assistant
	}
	i := 0
	for r.x.EnterList(c, "parts"); r.x.NextElement(c); i++ {
		r.readPart(c, role, i)
	}
}

// readPart reads a part of a content.
func (r *reader) readPart(c *jsonscan.Cursor, role core.Role, index int) {
	p, x, start := &r.part, r.x, c.Offset()
	p.Read(x, c, partMembers, "")
	signature := p.Raw("thoughtSignature")
	p.LoseNamed(x, part, "videoMetadata", "mediaResolution", "partMetadata")
	if p.Raw("functionCall") == nil && len(jsonscan.Inner(signature)) > 0 {
		x.Lose(signatureRow, nil) // what led to a text is of no use any more
	}
	switch text := p.Text("text"); {
	case p.Raw("functionCall") != nil:
		r.readCall(role, index, signature)
	case p.Raw("functionResponse") != nil:
		r.readResult(role)
	case p.Raw("text") != nil:
		if len(text) > 0 {
			r.turns.text(role, text, jsonscan.IsTrue(p.Raw("thought")))
		}
	case p.Raw("inlineData") != nil, p.Raw("fileData") != nil:
		r.turns.begin(role)
		r.readMedia()
	case p.LoseNamed(x, part, "executableCode", "codeExecutionResult", "toolCall", "toolResponse"):
	case signature == nil && !jsonscan.IsEmptyList(c.Document()[start:c.Offset()]):
		x.Lose(unknownPartRow, nil)
	}
}

// readCall reads the call of a function.
func (r *reader) readCall(role core.Role, index int, signature []byte) {
	o, x := &r.data, r.x
	if role != core.Assistant {
		x.Invalid("functionCall", "must be in a content of the model")
		return
	}
	r.turns.begin(role)
	if !x.Keep(core.ToolCall, nil) {
		return
	}
	o.ReadRaw(x, r.part.Raw("functionCall"), callMembers, "functionCall")
	args := o.Raw("args")
	if args == nil {
		args = []byte("{}")
	}
	r.turns.reason(signature)
	call := r.calls.add(r.turns.runs, o.Text("id"), o.Text("name"), x.At.Index(), index)
	r.args.call = core.Call{ID: call.id, Name: call.name, Input: args}
	r.w.Call(&r.args.call)
}

// readResult reads the result of a function.
func (r *reader) readResult(role core.Role) {
	o, x := &r.data, r.x
	if role == core.Assistant {
		x.Invalid("functionResponse", "must be in a content of the user")
		return
	}
	r.turns.begin(role)
	if !x.Keep(core.ToolResult, nil) {
		return
	}
	o.ReadRaw(x, r.part.Raw("functionResponse"), resultMembers, "functionResponse")
	if jsonscan.IsTrue(o.Raw("willContinue")) {
		x.Lose(continuedRow, nil)
	}
	o.LoseNamed(x, ofPart+"functionResponse", "scheduling")
	response := o.Raw("response")
	text, failed := textOf(response)
	call := r.calls.answered(o.Text("id"), o.Text("name"))
	switch {
	case call == nil && !x.Info.Counts():
		x.Invalid("functionResponse", "must answer a call in front of it that has no response")
		fallthrough
	case call == nil: // clients count the tokens of a turn alone
		if len(text) > 0 {
			r.w.Text(text)
		}
		return
	case !call.answered:
		call.answered, call.response = true, response
	case bytes.Equal(call.response, response):
		x.Lose(repeatedRow, nil) // agents that resume a session send results twice
		return
	default:
		x.Invalid("functionResponse", "differs from an earlier response to the same call")
		return
	}
	media := o.Raw("parts")
	r.args.result = core.Result{ID: call.id}
	r.w.OpenResult(&r.args.result)
	if len(text) > 0 {
		r.w.Text(text)
	}
	if len(media) > 0 {
		c := jsonscan.Again(media)
		for x.EnterList(&c, "functionResponse.parts"); x.NextElement(&c); {
			r.part.Read(x, &c, partMembers, "")
			if r.part.Raw("inlineData") == nil && r.part.Raw("fileData") == nil {
				x.Lose(unknownPartRow, nil)
			} else {
				r.readMedia()
			}
		}
	}
	r.w.CloseResult(failed && x.Keep(core.ErrorResult, nil))
}

// textOf returns the escaped text of a response: of the member output or error, if it is the
// only one and a text, else the object.
func textOf(response []byte) (text []byte, failed bool) {
	n := 0
	for name, value := range jsonscan.Members(response) {
		n++
		if failed = string(name) == "error"; failed || string(name) == "output" {
			text = jsonscan.Inner(value)
		}
	}
	if n == 1 && text != nil || len(response) == 0 {
		return text, failed
	}
	return jsonscan.AppendEscaped(nil, jsonscan.AppendCompact(nil, response)), false
}

package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// choosePrompt finds the prompt of this call, one of a list if there are several, and
// reports whether the prompt can be translated.
func (r *reader) choosePrompt() bool {
	if !jsonscan.IsString(r.prompt) {
		r.enterPrompts()
	}
	switch {
	case !jsonscan.IsString(r.prompt): // another model has other tokens
		r.x.Lose(tokensRow, nil)
	case len(jsonscan.Inner(r.prompt)) == 0: // there is nothing to answer
		r.refuseEmpty()
	default:
		return true
	}
	return false
}

// enterPrompts chooses one of several prompts. A listener gets all of them.
func (r *reader) enterPrompts() {
	c := jsonscan.Again(r.prompt)
	r.x.Prompts = 0
	for c.EnterArray(); c.Element(); r.x.Prompts++ {
		switch raw := c.Skip(); r.x.Info.Prompt {
		case r.x.Prompts:
			r.prompt = raw
		case core.AllPrompts:
			r.turn(jsonscan.Inner(raw))
		}
	}
}

// refuseEmpty refuses an empty prompt.
func (r *reader) refuseEmpty() {
	if r.x.Prompts == 1 {
		r.x.Lose(emptyPromptRow, nil)
		return
	}
	r.x.At.Enter("prompt")
	for range r.x.Info.Prompt + 1 {
		r.x.At.Next()
	}
	r.x.Lose(emptyElementRow, nil)
	r.x.At.Leave()
}

// fillInstruction is the instruction to write the text between two others. It needs no
// escapes.
const fillInstruction = "Write only the text that belongs between PREFIX and SUFFIX."

// write writes the prompt as a conversation.
func (r *reader) write() {
	text, suffix := jsonscan.Inner(r.prompt), r.suffix()
	r.instruct(suffix != nil)
	if suffix != nil {
		text = around(text, suffix)
	}
	r.turn(text)
}

// turn writes a turn of the user, unless the text is empty.
func (r *reader) turn(text []byte) {
	if len(text) == 0 {
		return
	}
	r.w.Turn(core.User)
	r.w.Text(text)
	r.w.EndTurn()
}

// suffix returns the escaped text behind the text to be filled in, nil for none. Formats
// of conversations have no field for a suffix, so an instruction asks for the text.
func (r *reader) suffix() []byte {
	text := jsonscan.Inner(r.x.Options.Raw(core.Suffix))
	r.x.Options.Clear(core.Suffix, core.Suffix)
	if len(text) == 0 || !r.x.Keep(core.Suffix, nil) {
		return nil
	}
	return text
}

// instruct writes the instructions: the operator's system text, and how a text is filled
// in.
func (r *reader) instruct(fills bool) {
	system := r.x.Traits.CompletionSystem
	if system == "" && !fills {
		return
	}
	r.w.Turn(core.Instructions)
	if system != "" {
		r.w.Text(jsonscan.AppendEscaped(nil, system))
	}
	if fills {
		r.w.Text([]byte(fillInstruction))
	}
	r.w.EndTurn()
}

// around returns the text with a prompt and its suffix, all escaped.
func around(prompt, suffix []byte) []byte {
	text := append([]byte(`PREFIX:\n`), prompt...)
	text = append(text, `\n\nSUFFIX:\n`...)
	return append(text, suffix...)
}

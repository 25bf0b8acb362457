package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// choosePrompt finds the prompt at hand, one of a list where there are several, and
// reports whether it can be answered.
func (r *reader) choosePrompt() bool {
	if !jsonscan.IsString(r.prompt) {
		r.enterPrompts()
	}
	switch {
	case !jsonscan.IsString(r.prompt): // tokens mean nothing to another model
		r.x.Lose(tokensRow, nil)
	case len(jsonscan.Inner(r.prompt)) == 0: // there is nothing to answer
		r.refuseEmpty()
	default:
		return true
	}
	return false
}

// enterPrompts chooses one of several prompts. Who listens hears them all.
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

// refuseEmpty refuses a prompt that says nothing.
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

// fillInstruction asks in words for what stands between two texts. It needs no
// escapes.
const fillInstruction = "Write only the text that belongs between PREFIX and SUFFIX."

// say writes the prompt as a conversation.
func (r *reader) say() {
	text, suffix := jsonscan.Inner(r.prompt), r.suffix()
	r.instruct(suffix != nil)
	if suffix != nil {
		text = around(text, suffix)
	}
	r.turn(text)
}

// turn writes what a user says, if that is anything.
func (r *reader) turn(text []byte) {
	if len(text) == 0 {
		return
	}
	r.w.Turn(core.User)
	r.w.Text(text)
	r.w.EndTurn()
}

// suffix returns the text that follows what is to be filled in, escaped, nil for
// none. It is asked for in words: no format of conversations has a field for it.
func (r *reader) suffix() []byte {
	text := jsonscan.Inner(r.x.Options.Raw(core.Suffix))
	r.x.Options.Clear(core.Suffix, core.Suffix)
	if len(text) == 0 || !r.x.Keep(core.Suffix, nil) {
		return nil
	}
	return text
}

// instruct writes what the system says to a prompt: what the operator wants it to
// say, and how a text is filled in.
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

// around returns the text that shows a prompt and its suffix, all escaped.
func around(prompt, suffix []byte) []byte {
	text := append([]byte(`PREFIX:\n`), prompt...)
	text = append(text, `\n\nSUFFIX:\n`...)
	return append(text, suffix...)
}

package request

import (
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Source reads completions requests.
var Source = core.Source{Rows: rows, New: func() core.Reader { return new(reader) }}

// reader reads a completions request, whose prompt becomes a turn of the user.
type reader struct {
	x *core.Translation
	w core.Writer
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	r.x, r.w = x, w
	var prompt []byte
	c := x.Info.Texts.Again(body)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "prompt" {
			prompt = c.Skip()
		} else {
			x.Member(&c)
		}
	}
	if !jsonscan.IsString(prompt) {
		prompt = r.choosePrompt(prompt)
	}
	switch {
	case !jsonscan.IsString(prompt): // another model has other tokens
		x.Lose(tokensRow, nil)
	case len(jsonscan.Inner(prompt)) == 0: // there is nothing to answer
		r.refuseEmpty()
	default:
		checkOptions(x)
		remember(x, prompt)
		r.write(jsonscan.Inner(prompt))
	}
	return c.Finish()
}

// choosePrompt returns one of several prompts, the one of this call. A listener gets all
// of them.
func (r *reader) choosePrompt(prompts []byte) (chosen []byte) {
	chosen = prompts
	c := jsonscan.Again(prompts)
	r.x.Prompts = 0
	for c.EnterArray(); c.Element(); r.x.Prompts++ {
		switch raw := c.Skip(); r.x.Info.Prompt {
		case r.x.Prompts:
			chosen = raw
		case core.AllPrompts:
			r.turn(jsonscan.Inner(raw))
		}
	}
	return chosen
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

// checkOptions refuses options with a meaning in this format alone, and options that are
// invalid in every format.
func checkOptions(x *core.Translation) {
	o, samples := &x.Options, int64(1)
	refuseBelowOne(x, noTokensRow, o.Raw(core.MaxTokens)) // 0 asks for the prompt alone
	refuseBelowOne(x, noSamplesRow, o.Raw(core.Samples))
	if raw := o.Raw(core.Samples); raw != nil {
		samples, _ = jsonscan.Integer(raw)
	}
	if best, ok := jsonscan.Integer(o.Raw(core.BestOf)); ok && best == samples { // every answer
		o.Clear(core.BestOf, core.BestOf)
	}
	for _, c := range [...]core.Concept{core.PresencePenalty, core.FrequencyPenalty} { // the strict pass does not check them
		if raw := o.Raw(c); raw != nil && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			x.InvalidOption(c, "must be a number")
		}
	}
}

// refuseBelowOne refuses a number below 1. Servers of completions differ in its meaning,
// such as no bound, and it has none in other formats.
func refuseBelowOne(x *core.Translation, row *core.Row, raw []byte) {
	if n, ok := jsonscan.Integer(raw); ok && n < 1 || raw != nil && raw[0] == '-' {
		x.Lose(row, raw)
	}
}

// remember keeps the raw prompt for answers that begin with the prompt.
func remember(x *core.Translation, prompt []byte) {
	o := &x.Options
	echo, scores := jsonscan.IsTrue(o.Raw(core.Echo)), o[core.Logprobs]
	if echo && scores.Raw != nil {
		x.Lose(echoedLogprobsRow, scores.Raw) // those of the prompt are unknown
	}
	o[core.TopLogprobs] = scores
	if !echo && scores.Raw == nil {
		return
	}
	text := jsonscan.AppendText(nil, prompt)
	x.Answer.Input.Length = utf8.RuneCount(text)
	if echo {
		x.Answer.Input.Echo = text
	}
}

// fillInstruction is the instruction to write the text between two others. It needs no
// escapes.
const fillInstruction = "Write only the text that belongs between PREFIX and SUFFIX."

// write writes the escaped prompt as a conversation: the instructions are the operator's
// system text, and how a text is filled in. Formats of conversations have no field for a
// suffix.
func (r *reader) write(prompt []byte) {
	x, w := r.x, r.w
	system, suffix := x.Traits.CompletionSystem, jsonscan.Inner(x.Options.Raw(core.Suffix))
	x.Options.Clear(core.Suffix, core.Suffix)
	fills := len(suffix) > 0 && x.Keep(core.Suffix, nil)
	if system != "" || fills {
		w.Turn(core.Instructions)
		if system != "" {
			w.Text(jsonscan.AppendEscaped(nil, system))
		}
		if fills {
			w.Text([]byte(fillInstruction))
		}
		w.EndTurn()
	}
	if fills {
		text := append([]byte(`PREFIX:\n`), prompt...)
		prompt = append(append(text, `\n\nSUFFIX:\n`...), suffix...)
	}
	r.turn(prompt)
}

// turn writes a turn of the user, unless the text is empty.
func (r *reader) turn(text []byte) {
	if len(text) > 0 {
		r.w.Turn(core.User)
		r.w.Text(text)
		r.w.EndTurn()
	}
}

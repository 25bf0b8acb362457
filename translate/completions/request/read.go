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
	x      *core.Translation
	w      core.Writer
	cursor jsonscan.Cursor // over the body
	prompt []byte          // raw
}

// Forget drops all references to the body.
func (r *reader) Forget() { *r = reader{} }

// Read reads a body.
func (r *reader) Read(body []byte, x *core.Translation, w core.Writer) error {
	r.x, r.w, r.cursor = x, w, jsonscan.Again(body)
	c := &r.cursor
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) == "prompt" {
			r.prompt = c.Skip()
		} else {
			x.Member(c)
		}
	}
	if r.choosePrompt() {
		r.checkOptions()
		r.remember()
		r.write()
	}
	return c.Finish()
}

// penalties are the options that must be numbers and that the strict pass does not check.
var penalties = [...]core.Concept{core.PresencePenalty, core.FrequencyPenalty}

// checkOptions refuses options with a meaning in this format alone, and options that are
// invalid in every format.
func (r *reader) checkOptions() {
	o := &r.x.Options
	r.refuseBelowOne(noTokensRow, o.Raw(core.MaxTokens)) // 0 asks for the prompt alone
	r.refuseBelowOne(noSamplesRow, o.Raw(core.Samples))
	if r.isEveryAnswer(o.Raw(core.BestOf)) {
		o.Clear(core.BestOf, core.BestOf)
	}
	for _, c := range penalties {
		if raw := o.Raw(c); raw != nil && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
			r.x.InvalidOption(c, "must be a number")
		}
	}
}

// refuseBelowOne refuses a number below 1. Servers of completions differ in its meaning,
// such as no bound, and it has none in other formats.
func (r *reader) refuseBelowOne(row *core.Row, raw []byte) {
	if n, ok := jsonscan.Integer(raw); ok && n < 1 || raw != nil && raw[0] == '-' {
		r.x.Lose(row, raw)
	}
}

// isEveryAnswer reports whether best_of equals the number of answers asked for.
func (r *reader) isEveryAnswer(bestOf []byte) bool {
	n, wanted := int64(1), r.x.Options.Raw(core.Samples)
	if wanted != nil {
		n, _ = jsonscan.Integer(wanted)
	}
	best, ok := jsonscan.Integer(bestOf)
	return ok && best == n
}

// remember keeps the prompt for answers that begin with the prompt.
func (r *reader) remember() {
	o := &r.x.Options
	echo, scores := jsonscan.IsTrue(o.Raw(core.Echo)), o[core.Logprobs]
	if echo && scores.Raw != nil {
		r.x.Lose(echoedLogprobsRow, scores.Raw) // those of the prompt are unknown
	}
	o[core.TopLogprobs] = scores
	if !echo && scores.Raw == nil {
		return
	}
	text := jsonscan.AppendText(nil, r.prompt)
	r.x.Answer.PromptLength = utf8.RuneCount(text)
	if echo {
		r.x.Answer.Echo = text
	}
}

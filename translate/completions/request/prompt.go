package request

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// The requirements on prompts.
const (
	wantPrompt = "must be a string, an array of strings, an array of integers or an array of arrays of integers"
	wantPiece  = "must be of the same kind as the first: strings, integers or arrays of integers"
)

// prompt reads the prompt: a text, a list of texts, a list of tokens, or a list of lists
// of tokens.
func (r *request) prompt() {
	if _, ok := r.RawString(); ok {
		return
	}
	if r.Kind() != jsonscan.Array {
		r.Refuse(wantPrompt + r.Got())
		return
	}
	first := jsonscan.Invalid
	n := r.Elements(wantPrompt, func(i int) {
		kind := r.Kind()
		if i == 0 {
			first = kind
		}
		switch {
		case kind != first:
			r.Refuse(wantPiece)
		case kind == jsonscan.String:
			r.Skip()
		case kind == jsonscan.Number:
			r.WantInteger()
		case kind != jsonscan.Array:
			r.Refuse("must be a string, an integer or an array of integers" + r.Got())
		case r.Elements(wantPiece, func(int) { r.WantInteger() }) == 0:
			r.Note("must not be empty")
		}
	})
	if n == 0 {
		r.Note("must not be empty")
	}
	if first != jsonscan.Number { // numbers are the tokens of one prompt
		r.View.Prompts = int64(n)
	}
}

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
		r.piece(kind, first)
	})
	if n == 0 {
		r.Note("must not be empty")
	}
	if first != jsonscan.Number { // numbers are the tokens of one prompt
		r.View.Prompts = int64(n)
	}
}

// piece reads an element of the prompt, which must be of the kind of the first.
func (r *request) piece(kind, first jsonscan.Kind) {
	if kind != first {
		r.Refuse(wantPiece)
		return
	}
	switch kind {
	case jsonscan.String:
		r.Skip()
	case jsonscan.Number:
		r.WantInteger()
	case jsonscan.Array:
		r.tokens()
	default:
		r.Refuse("must be a string, an integer or an array of integers" + r.Got())
	}
}

// tokens reads a list of tokens.
func (r *request) tokens() {
	n := r.Elements(wantPiece, func(int) { r.WantInteger() })
	if n == 0 {
		r.Note("must not be empty")
	}
}

package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// The requirements on prompts.
const (
	wantPrompt = "must be a string, an array of strings, an array of integers or an array of arrays of integers"
	wantPiece  = "must be of the same kind as the first: strings, integers or arrays of integers"
)

// checkPrompt reads the prompt: a text, a list of texts, a list of tokens, or a list of lists
// of tokens.
func checkPrompt(p *strict.Pass, _ *strict.Table) {
	if _, ok := p.JSON.RawString(); ok {
		return
	}
	if p.JSON.Kind() != jsonscan.Array {
		p.Refuse(wantPrompt + p.Got())
		return
	}
	first := jsonscan.Invalid
	n := p.Elements(wantPrompt, func(i int) {
		kind := p.JSON.Kind()
		if i == 0 {
			first = kind
		}
		switch {
		case kind != first:
			p.Refuse(wantPiece)
		case kind == jsonscan.String:
			p.JSON.Skip()
		case kind == jsonscan.Number:
			p.WantInteger()
		case kind != jsonscan.Array:
			p.Refuse("must be a string, an integer or an array of integers" + p.Got())
		case p.Elements(wantPiece, func(int) { p.WantInteger() }) == 0:
			p.Note("must not be empty")
		}
	})
	if n == 0 {
		p.Note("must not be empty")
	}
	if first != jsonscan.Number { // numbers are the tokens of one prompt
		p.View.Prompts = int64(n)
	}
}

package strict

import (
	"bytes"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// maxModel bounds the name of a model, in bytes.
const maxModel = 256

// model reads the name of a model. It is the only part of a valid body that is copied.
// Logs, terminals and tables show it, so that it has no control characters.
func (p *Pass) model() {
	start := p.Offset()
	name, ok := p.Text()
	switch {
	case !ok:
		p.Refuse("must be a non-empty string" + p.Got())
	case len(name) == 0:
		p.Note("must be a non-empty string")
	case len(name) > maxModel:
		p.Note("must be at most 256 bytes long")
	case bytes.ContainsFunc(name, unicode.IsControl):
		p.Note("must have no control characters")
	default:
		p.View.Model = string(name)
	}
	p.View.ModelSpan = translate.Span{Start: start, End: p.Offset()}
}

// streamOptions reads the options of a stream, and keeps the position where an edit can ask for usage.
func (p *Pass) streamOptions() {
	if !p.EnterObject() {
		p.Refuse("must be an object")
		return
	}
	for p.Member() {
		if string(p.Name()) == "include_usage" {
			p.includeUsage()
		} else {
			p.Skip()
		}
	}
}

func (p *Pass) includeUsage() {
	start := p.Offset()
	if !p.Null() {
		p.Push("include_usage")
		p.View.IncludeUsage = p.Flag()
		p.Pop()
	}
	p.View.IncludeUsageSpan = translate.Span{Start: start, End: p.Offset()}
}

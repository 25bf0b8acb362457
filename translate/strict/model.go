package strict

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate"

// maxModel bounds the name of a model, in bytes.
const maxModel = 256

// Model reads the name of a model into the view. The name is the only thing of
// a body without a fault that is copied.
func (p *Pass) Model(view *translate.View) {
	start := p.Offset()
	name, ok := p.Text()
	switch {
	case !ok:
		p.Refuse("must be a non-empty string" + p.Got())
	case len(name) == 0:
		p.Note("must be a non-empty string")
	case len(name) > maxModel:
		p.Note("must be at most 256 bytes long")
	default:
		view.Model = string(name)
	}
	view.ModelSpan = translate.Span{Start: start, End: p.Offset()}
}

// StreamOptions reads the options of a stream, a null included, into the view,
// which says where a request for usage can be put. It reports whether there
// are any: null means none.
func (p *Pass) StreamOptions(view *translate.View) (any bool) {
	start := p.Offset()
	if any = !p.Null(); any {
		p.streamOptions(view)
	}
	view.StreamOptions = translate.Span{Start: start, End: p.Offset()}
	return any
}

func (p *Pass) streamOptions(view *translate.View) {
	if !p.EnterObject() {
		p.Refuse("must be an object")
		return
	}
	for p.Member() {
		if string(p.Name()) == "include_usage" {
			p.includeUsage(view)
		} else {
			p.Skip()
		}
	}
}

func (p *Pass) includeUsage(view *translate.View) {
	start := p.Offset()
	if !p.Null() {
		p.Push("include_usage")
		view.IncludeUsage = p.Flag()
		p.Pop()
	}
	view.IncludeUsageSpan = translate.Span{Start: start, End: p.Offset()}
}

package passthrough

import (
	"bytes"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// IsForm reports whether a body is a form: no JSON begins as its first delimiter.
func IsForm(body []byte) bool { return bytes.HasPrefix(body, []byte("--")) }

// Inspect is the strict pass over a request body of an operation. The view of a request
// without a model has the model that the service uses, and an empty ModelSpan where Rename
// inserts another one. The images of the view are those that the request asks for, the seconds
// an estimate by the file, the characters exact, and the queries one for each hundred documents, of
// which a long one is several.
func Inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	e := endpointOf(op)
	if e.json == nil || IsForm(body) && e.form != "" {
		return inspectForm(body, e)
	}
	b := strict.Read(body, strict.Brackets, e.json)
	switch e.unit {
	case images:
		b.Pass.View.Costs.Units.Images = max(1, b.Pass.View.Answers)
	case queries:
		b.Pass.View.Costs.Units.Queries = max(1, b.Pass.View.Costs.Units.Queries)
	}
	named := b.Has("model")
	view, refused := b.End()
	if refused == nil && !named {
		view.Model = e.byDefault
		c := jsonscan.Again(body)
		c.EnterObject()
		view.ModelSpan = translate.Span{Start: c.Offset(), End: c.Offset()}
	}
	return view, refused
}

// checkStreamFormat reads whether the sound is to come as a stream of events.
func checkStreamFormat(p *strict.Pass, _ *strict.Table) {
	p.View.Stream = string(jsonscan.Inner(p.JSON.StringOrSkip())) == "sse"
}

// checkNumber reads a number of images by another name than that of the format, of any kind.
func checkNumber(p *strict.Pass, _ *strict.Table) {
	n := int64(0)
	token.ReadCount(&p.JSON, &n)
	p.View.Answers = max(p.View.Answers, n)
}

// checkCharacters reads the text to speak, and counts its characters.
func checkCharacters(p *strict.Pass, _ *strict.Table) {
	text, _ := p.WantText()
	p.View.Costs.Units.Characters = int64(utf8.RuneCount(text))
}

// checkDocuments reads the documents to rank, and counts the searches of which a service charges
// them. A value that is no list is one document.
func checkDocuments(p *strict.Pass, _ *strict.Table) {
	var n int64
	if p.JSON.EnterArray() {
		for p.JSON.Element() {
			n += documentsOf(p.JSON.Skip())
		}
	} else {
		n = documentsOf(p.JSON.Skip())
	}
	p.View.Costs.Units.Queries = (n + documentsPerUnit - 1) / documentsPerUnit
}

// documentsOf returns for how many documents a raw one counts.
func documentsOf(raw []byte) int64 { return 1 + int64(len(raw))/bytesPerDocument }

// Rename returns the edit of a body that has passed Inspect after which it names a model of
// the provider.
func Rename(body []byte, view *translate.View, model string) edit.Edit {
	e := edit.Edit{Span: view.ModelSpan}
	switch {
	case IsForm(body):
		e.With = []byte(model)
	case view.ModelSpan.Empty():
		e.With = append(jsonscan.AppendString([]byte(`"model":`), model), ',')
	default:
		e.With = jsonscan.AppendString(nil, model)
	}
	return e
}

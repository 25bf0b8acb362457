package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// Inspect is the strict pass over a request body. It returns the view of the request, or
// the fault that comes first: JSON faults in byte order, then the fields in the order of
// their rows.
func Inspect(body []byte, _ translate.Operation) (translate.View, *fault.Fault) {
	b := strict.Read(body, strict.Brackets, fields)
	if b.Has("stream_options") && !b.Pass.View.Stream {
		b.NoteField("stream_options", "must be sent only with stream true")
	}
	return b.End()
}

// checkMaxTokens reads the bound of the answer. Servers differ in the meaning of 0.
func checkMaxTokens(p *strict.Pass, _ *strict.Table) { p.View.MaxTokens = p.Count() }

// checkAnswers reads the number of answers, or of those from which they are selected.
func checkAnswers(p *strict.Pass, _ *strict.Table) { p.View.Answers = max(p.View.Answers, p.Count()) }

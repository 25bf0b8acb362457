package request

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// hasSeal notes that the signature of a part is a seal of this gateway.
const hasSeal strict.Notes = 1

// Inspect is the strict pass over a request body. It returns the view of the request, or the
// fault that comes first: JSON faults in byte order, then the fields in the order of their
// rows. The view has neither the kind of the answer, which only the path states, nor usually
// the model.
func Inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	if op.Embeds() {
		return inspectEmbeddings(body, op)
	}
	b := strict.Read(body, strict.Brackets, fields)
	switch {
	case op != translate.CountTokens || !b.Has(wrapped):
		b.Require("contents")
	case b.Has("contents"):
		b.NoteField(wrapped, "must not be sent together with contents")
	}
	return b.End()
}

// checkModelOf reads the model of a request in a request.
func checkModelOf(p *strict.Pass, _ *strict.Table) {
	start := p.JSON.Offset()
	p.View.Model = jsonscan.TextOf(p.JSON.StringOrSkip())
	p.View.ModelSpan = translate.Span{Start: start, End: p.JSON.Offset()}
}

// checkContents reads the conversation.
func checkContents(p *strict.Pass, objects *strict.Table) {
	p.Messages(func(int) { strict.Object(p, objects) })
}

// checkCached reads the name of contents that the provider keeps.
func checkCached(p *strict.Pass, objects *strict.Table) {
	p.View.Beyond.State = "cachedContent"
	p.View.Beyond.Refer().Unowned = "cachedContent"
	strict.Text(p, objects)
}

// checkBudget checks how many tokens the model may think.
func checkBudget(p *strict.Pass, _ *strict.Table) { p.AtLeast(-1, math.MaxInt32) }

// countSearches counts the searches of a tool that the service has.
func countSearches(p *strict.Pass, _ *strict.Table) {
	p.View.Costs.Searches = min(p.View.Costs.Searches+token.DefaultSearches, token.MaxSearches)
	p.JSON.Skip()
}

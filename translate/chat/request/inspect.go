package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Inspect is the strict pass over a request body. It returns the view of the request, or
// the fault that comes first: JSON faults in byte order, then the fields in the order of
// their rows.
func Inspect(body []byte, _ translate.Operation) (translate.View, *fault.Fault) {
	return strict.Read(body, strict.Brackets, fields).End()
}

// completionFields are those of the request that changes a stored completion.
var completionFields = strict.Fields{{Name: "metadata", Check: strict.Map, Must: true}}

// CheckCompletion is the strict pass over the body of the request that changes a stored completion.
func CheckCompletion(body []byte) *fault.Fault {
	_, refused := strict.Read(body, strict.Brackets, completionFields).End()
	return refused
}

// checkStore reads whether the provider stores the answer, which it does not by default.
func checkStore(p *strict.Pass, _ *strict.Table) { p.View.Beyond.Stored = p.Flag() }

// checkSearch reads the options of a search. A provider of the format searches once before
// its answer.
func checkSearch(p *strict.Pass, _ *strict.Table) {
	costs := &p.View.Costs
	costs.Searches, costs.SearchesAlways = max(costs.Searches, 1), true
	p.JSON.Skip()
}

// checkSearching reads whether the model may search, as Model Studio calls it.
func checkSearching(p *strict.Pass, _ *strict.Table) {
	if jsonscan.IsTrue(p.JSON.Skip()) {
		p.View.Costs.Searches = token.DefaultSearches
	}
}

// checkToolType looks for a tool with which the provider searches the web.
func checkToolType(p *strict.Pass, _ *strict.Table) {
	if token.IsSearchTool(p.JSON.StringOrSkip()) {
		p.View.Costs.Searches = token.DefaultSearches
	}
}

// checkMessages reads the conversation.
func checkMessages(p *strict.Pass, objects *strict.Table) {
	p.Messages(func(int) {
		var m strict.Members
		if p.Message(&m, objects) {
			i, kind := m.Find("content")
			p.Part(i + 1)
			wantContent(p, kind, m.Type() == "assistant")
		}
	})
}

// wantContent checks the kind of the content, which only messages of the assistant
// may lack.
func wantContent(p *strict.Pass, kind jsonscan.Kind, byAssistant bool) {
	switch {
	case kind == jsonscan.String || kind == jsonscan.Array || byAssistant && strict.Missing(kind):
	case kind == jsonscan.Invalid:
		p.NoteMember("content", strict.Required)
	default:
		p.NoteMember("content", "must be a string or an array of content parts, got "+kind.String())
	}
}

// checkThinking reads the reasoning of an assistant. The blocks that this gateway signed are
// cut, since providers do not know them; a member that has no others goes, too.
func checkThinking(p *strict.Pass, _ *strict.Table) {
	start := p.JSON.MemberStart()
	if p.JSON.Kind() != jsonscan.Array {
		p.JSON.Skip()
		return
	}
	cuts := strict.Cutter{Spans: &p.View.SelfSigned}
	for p.JSON.EnterArray(); p.JSON.Element(); {
		span := translate.Span{Start: p.JSON.Offset()}
		own := isOwnThinking(p)
		span.End = p.JSON.Offset()
		cuts.Element(span, own)
	}
	if cuts.All() {
		p.CutMember(translate.Span{Start: start, End: p.JSON.Offset()})
	}
}

// isOwnThinking reads a block, and reports whether this gateway signed it.
func isOwnThinking(p *strict.Pass) bool {
	var kind, thinking, signature []byte
	for p.JSON.OpenObject(); p.Member(); {
		switch string(p.JSON.Name()) {
		case "type":
			kind = p.JSON.StringOrSkip()
		case "thinking":
			thinking = p.JSON.StringOrSkip()
		case "signature":
			signature = p.JSON.StringOrSkip()
		default:
			p.JSON.Skip()
		}
	}
	return string(kind) == `"thinking"` && thinking != nil && seal.IsOwn(jsonscan.Inner(thinking), jsonscan.Inner(signature))
}

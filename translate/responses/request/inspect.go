package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// What the checks note for each other.
const (
	noItems   strict.Notes = 1 << iota // the input is an empty array
	manyItems                          // the input has more than maxItems
	sealed                             // this gateway made the encrypted_content of the item
	searches                           // a tool searches the web
)

// Inspect is the strict pass over a request body. It returns what the gateway
// needs to know of it, or the fault that comes first: JSON faults in byte
// order, then the fields in the order of their rows.
func Inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	b := strict.Read(body, strict.Brackets, fields)
	requireInput(b)
	if op == translate.Compact {
		refuseLater(b)
	}
	switch costs := &b.Pass.View.Costs; {
	case b.Pass.Notes&searches == 0:
		costs.Searches = 0
	case !b.Has("max_tool_calls"):
		costs.Searches = token.DefaultSearches
	}
	return b.End()
}

// requireInput requires an input, unless a reference to the provider's storage replaces it.
func requireInput(b *strict.Body) {
	switch {
	case b.Pass.Notes&manyItems != 0:
		b.NoteField("input", "must hold at most 100000 items")
	case b.Pass.View.Beyond.Idle || b.Has("previous_response_id") || b.Has("conversation") || b.Has("prompt"):
	case b.Pass.Notes&noItems != 0:
		b.NoteField("input", "must hold at least one item")
	default:
		b.Require("input")
	}
}

// refuseLater refuses an answer that comes as a stream or in the background: a shortened conversation does
// not.
func refuseLater(b *strict.Body) {
	if b.Pass.View.Stream {
		b.NoteField("stream", "must be false here")
	}
	if b.Pass.View.Beyond.Background {
		b.NoteField("background", "must be false here")
	}
}

// stored returns the check of a field that refers to an object of a kind in the provider's storage.
func stored(name, kind string, check strict.Check) strict.Check {
	return func(p *strict.Pass, objects *strict.Table) {
		needsState(p, name)
		start := p.JSON.Offset()
		check(p, objects)
		noteObject(p, name, kind, start)
	}
}

// noteObject notes the id of an object of a kind in the value of a field from an offset up to the
// cursor: the value itself, or its member id.
func noteObject(p *strict.Pass, name, kind string, start int) {
	value := p.Since(start)
	c := jsonscan.Again(value)
	if c.Kind() == jsonscan.String {
		noteID(p, name, kind, translate.Span{Start: start, End: start + len(value)})
		return
	}
	for c.OpenObject(); c.Member(); {
		isID, begin := string(c.Name()) == "id", start+c.Offset()
		if c.Skip(); isID {
			noteID(p, name, kind, translate.Span{Start: begin, End: start + c.Offset()})
		}
	}
}

func noteID(p *strict.Pass, name, kind string, place translate.Span) {
	r := p.View.Beyond.Refer()
	r.Objects = append(r.Objects, translate.ObjectID{Path: name, Kind: kind, Span: place})
}

// checkPrompt reads a prompt in the provider's storage, whose id does not show whose it is.
func checkPrompt(p *strict.Pass, objects *strict.Table) {
	needsUnowned(p, "prompt")
	strict.WantOptions(p, objects)
}

// needsState notes the first field that needs what a provider keeps.
func needsState(p *strict.Pass, path string) {
	if p.View.Beyond.State == "" {
		p.View.Beyond.State = path
	}
}

// needsUnowned is needsState for a field whose id does not show whose it is.
func needsUnowned(p *strict.Pass, path string) {
	needsState(p, path)
	if r := p.View.Beyond.Refer(); r.Unowned == "" {
		r.Unowned = path
	}
}

// checkStore reads whether the provider is to store the answer, which is the default.
func checkStore(p *strict.Pass, _ *strict.Table) {
	stored := p.Flag()
	p.View.Beyond.Stored, p.View.Beyond.Unstored = stored, !stored
}

// checkBackground reads whether the provider answers later.
func checkBackground(p *strict.Pass, _ *strict.Table) {
	if p.View.Beyond.Background = p.Flag(); p.View.Beyond.Background {
		needsState(p, "background")
	}
}

// checkGenerate reads whether the provider is to answer.
func checkGenerate(p *strict.Pass, _ *strict.Table) {
	p.View.Beyond.Idle = !p.Flag()
}

// checkConversation reads the id of a conversation, or an object with it.
func checkConversation(p *strict.Pass, objects *strict.Table) {
	if _, ok := p.JSON.RawString(); ok {
		return
	}
	if p.JSON.Kind() != jsonscan.Object {
		p.Refuse("must be a string or an object" + p.Got())
		return
	}
	strict.Options(p, objects)
}

// checkMaxCalls reads how often the provider may call its tools.
func checkMaxCalls(p *strict.Pass, _ *strict.Table) {
	limit := int64(token.DefaultSearches)
	token.ReadCount(&p.JSON, &limit)
	p.View.Costs.Searches = min(limit, token.MaxSearches)
}

// checkToolType notes a tool that searches the web.
func checkToolType(p *strict.Pass, _ *strict.Table) {
	if token.IsSearchTool(p.JSON.StringOrSkip()) {
		p.Notes |= searches
	}
}

// checkNamespace reads the tools of a namespace, of which nothing is required.
func checkNamespace(p *strict.Pass, tools *strict.Table) {
	p.Elements("", func(int) { strict.Groups(p, tools) })
}

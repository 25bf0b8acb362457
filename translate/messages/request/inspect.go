package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// What the checks note for each other.
const (
	hasSystem    strict.Notes = 1 << iota // there is a system prompt
	leads                                 // the first message is a system text
	selfSigned                            // the message consists of blocks that this gateway signed
	ownSignature                          // the signature of the block may be of this gateway
	searches                              // the tool searches the web
)

// Inspect is the strict pass over a request body. It returns the view of the request, or
// the fault that comes first: JSON faults in byte order, then the fields in the order of
// their rows. Requests of CountTokens need no max_tokens.
func Inspect(body []byte, op translate.Operation) (translate.View, *fault.Fault) {
	b := strict.Read(body, strict.Dots, fields)
	if both := hasSystem | leads; b.Pass.Notes&both == both {
		b.Pass.View.LateSystem = "messages.0.role"
	}
	if op != translate.CountTokens {
		b.Require("max_tokens")
	}
	return b.End()
}

// checkSpeed, checkRegion and checkCompaction read what changes the price of a request.
func checkSpeed(p *strict.Pass, _ *strict.Table) {
	p.View.Costs.Terms.ReadSpeed(p.JSON.StringOrSkip())
}

func checkRegion(p *strict.Pass, _ *strict.Table) {
	p.View.Costs.Terms.ReadRegion(p.JSON.StringOrSkip())
}

func checkCompaction(p *strict.Pass, _ *strict.Table) {
	p.View.Costs.Compacts = true
	p.JSON.Skip()
}

// checkEdits reads the edits of the conversation that the provider may make, which the
// provider checks.
func checkEdits(p *strict.Pass, _ *strict.Table) {
	for p.JSON.OpenObject(); p.Member(); {
		if string(p.JSON.Name()) != "edits" {
			p.JSON.Skip()
			continue
		}
		for p.JSON.OpenArray(); p.JSON.Element(); {
			for p.JSON.OpenObject(); p.Member(); {
				if string(p.JSON.Name()) != "type" {
					p.JSON.Skip()
					continue
				}
				kind := jsonscan.DecodedOf(p.JSON.StringOrSkip())
				p.View.Costs.Compacts = p.View.Costs.Compacts || bytes.HasPrefix(kind, []byte("compact_"))
			}
		}
	}
}

// checkFormat returns the check of a format of the answer, which may have a schema.
func checkFormat(path string) strict.Check {
	return func(p *strict.Pass, objects *strict.Table) {
		p.View.Schema = path
		strict.Options(p, objects)
	}
}

// checkTools reads the tools. Their schemas are only copied.
func checkTools(p *strict.Pass, objects *strict.Table) {
	p.Elements("must be an array of objects", func(i int) {
		p.Item(i)
		p.Notes &^= searches
		start := p.JSON.Offset()
		strict.Object(p, objects)
		if p.Notes&searches == 0 {
			return
		}
		most := int64(token.DefaultSearches)
		uses := jsonscan.Again(jsonscan.MemberOf(p.Since(start), "max_uses"))
		token.ReadCount(&uses, &most)
		p.View.Costs.Searches = min(p.View.Costs.Searches+most, token.MaxSearches)
	})
}

// checkToolType notes a tool that searches the web.
func checkToolType(p *strict.Pass, _ *strict.Table) {
	if token.IsSearchTool(p.JSON.StringOrSkip()) {
		p.Notes |= searches
	}
}

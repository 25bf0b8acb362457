package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/files"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

// roles are the roles of contents. Older clients have one of their own for results.
var roles = map[string]bool{user: true, model: true, "function": true}

// checkRole checks the role of a content.
func checkRole(p *strict.Pass, _ *strict.Table) {
	if text, ok := p.WantText(); ok && !roles[string(text)] {
		p.NoteValue("must be 'user' or 'model'", strict.Shown(text))
	}
}

// checkAnyRole checks the role of instructions, which has no meaning.
func checkAnyRole(p *strict.Pass, _ *strict.Table) { p.WantText() }

// dataMembers are the members of a part of which it has one at most.
var dataMembers = [...]string{
	"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
}

// checkParts reads the parts of a content, or of the result of a function.
func checkParts(p *strict.Pass, objects *strict.Table) {
	p.Elements("must be an array of objects", func(int) { checkPart(p, objects) })
}

// checkPart reads a part, and the parts in it.
func checkPart(p *strict.Pass, objects *strict.Table) {
	outer, start := p.Notes, p.JSON.Offset()
	p.Notes &^= hasSeal
	var m strict.Members
	p.Object(&m, objects)
	data := 0
	for _, name := range dataMembers {
		if !strict.Missing(m.Kind(name)) {
			data++
		}
	}
	if data > 1 {
		p.Note("must have only one of text, a call, a response and data")
	}
	if p.Notes&hasSeal != 0 {
		cutSeal(p, objects, start, !strict.Missing(m.Kind("functionCall")))
	}
	p.Notes = outer
}

// checkSignature notes a seal of this gateway in the place of a signature.
func checkSignature(p *strict.Pass, _ *strict.Table) {
	if text, ok := p.WantText(); ok {
		if _, ok := sealed(text); ok {
			p.Notes |= hasSeal
		}
	}
}

// cutSeal cuts the seal out of the part that begins at start. Models refuse calls without any
// signature, so that those of calls are replaced.
func cutSeal(p *strict.Pass, objects *strict.Table, start int, isCall bool) {
	c := jsonscan.Again(p.Since(start))
	for c.OpenObject(); c.Member(); {
		isSignature := objects.Name(c.Name()) == "thoughtSignature"
		member, value := start+c.MemberStart(), start+c.Offset()
		c.Skip()
		switch end := start + c.Offset(); {
		case !isSignature:
		case isCall:
			p.View.Resigned = append(p.View.Resigned, translate.Span{Start: value, End: end})
		default:
			p.CutMember(translate.Span{Start: member, End: end})
		}
	}
}

// checkBlob reads data.
func checkBlob(p *strict.Pass, objects *strict.Table) {
	file, _ := p.ReadData(objects)
	files.Add(&p.View.Costs.Files, file.Kind, file.Data)
}

// checkFile reads the address of a file, which is an image unless it states its type.
func checkFile(p *strict.Pass, objects *strict.Table) {
	file, m := p.ReadData(objects)
	if strict.Missing(m.Kind("mimeType")) {
		file.Kind = files.Image
	}
	files.AddNamed(&p.View.Costs.Files, file.Kind)
}

package request

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/files"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
)

const (
	wantContent = "must be a string or an array of content blocks"
	wantSystem  = "must be a string or an array of text blocks"
)

// checkMessages reads the conversation.
func checkMessages(p *strict.Pass, objects *strict.Table) {
	cuts := strict.Cutter{Spans: &p.View.SelfSigned}
	p.Messages(func(i int) {
		start := p.JSON.Offset()
		p.Notes &^= selfSigned
		var m strict.Members
		if p.Message(&m, objects) {
			checkContent(p, &m, i)
		}
		cuts.Element(translate.Span{Start: start, End: p.JSON.Offset()}, p.Notes&selfSigned != 0)
	})
	if cuts.All() {
		cuts.CutAll()
	}
}

// checkContent checks the kind of the content of the message with an index, and notes a
// message of the system.
func checkContent(p *strict.Pass, m *strict.Members, index int) {
	member, content := m.Find("content")
	p.Part(member + 1)
	configures := m.Type() == "system" && m.Kind("output_config") == jsonscan.Object // it sets the effort of later turns
	switch content {
	case jsonscan.String, jsonscan.Array:
	case jsonscan.Invalid:
		if !configures {
			p.NoteMember("content", strict.Required)
		}
	case jsonscan.Null:
		// An answer without a text may have null for its content, and clients send
		// it back unchanged.
		if m.Type() != "assistant" && !configures {
			p.NoteMember("content", wantContent+", got null")
		}
	default:
		p.NoteMember("content", wantContent+", got "+content.String())
	}
	switch {
	case m.Type() != "system" || strict.Missing(content):
	case index == 0: // late behind the field system, which may come behind the messages
		p.Notes |= leads
	case p.View.LateSystem == "":
		p.View.LateSystem = "messages." + strconv.Itoa(index) + ".role"
	}
}

// checkSystem reads the system prompt.
func checkSystem(p *strict.Pass, objects *strict.Table) {
	if text, ok := p.JSON.RawString(); ok {
		if len(text) > len(`""`) {
			p.Notes |= hasSystem
		}
		return
	}
	p.Elements(wantSystem, func(i int) {
		p.Notes |= hasSystem
		p.Item(i)
		var m strict.Members
		if p.Object(&m, objects) && m.Type() == "" && m.Kind("type") == jsonscan.String {
			p.NoteMember("type", "must be 'text'")
		}
	})
}

// maxNesting bounds the depth of content in blocks. The deepest block of the format is a text
// in a search result in a tool result.
const maxNesting = 3

// checkBlocks reads the blocks of a content, and notes whether this gateway signed all of them.
// Fewer are cut. Only the blocks of a message itself can be self-signed.
func checkBlocks(p *strict.Pass, objects *strict.Table) {
	level := p.Within("content") - 1
	if p.JSON.Kind() != jsonscan.Array || level > maxNesting {
		p.JSON.Skip()
		return
	}
	cuts, first := strict.Cutter{Spans: &p.View.SelfSigned}, p.JSON.Offset()
	p.Elements("", func(int) {
		var m strict.Members
		start := p.JSON.Offset()
		if level == 0 {
			p.Notes &^= ownSignature
		}
		p.Object(&m, objects)
		block := p.Since(start)
		if m.Kind("source") == jsonscan.Object && isLinked(block) {
			files.AddNamed(&p.View.Costs.Files, linkedKinds[m.Type()])
		}
		if level == 0 {
			cuts.Element(translate.Span{Start: start, End: p.JSON.Offset()}, p.Notes&ownSignature != 0 && m.Type() == "thinking" && isOwnThinking(block))
		}
	})
	p.JSON.NoteArray(first)
	if level == 0 && cuts.All() {
		p.Notes |= selfSigned
	}
}

// checkSignature notes a signature that may be of this gateway.
func checkSignature(p *strict.Pass, _ *strict.Table) {
	if seal.MayBeOwn(jsonscan.Inner(p.JSON.StringOrSkip())) {
		p.Notes |= ownSignature
	}
}

// isOwnThinking reports whether a thinking block is one that no messages provider signed: it
// has a signature of this gateway, or a sealed one of another format.
func isOwnThinking(block []byte) bool {
	thinking := jsonscan.MemberOf(block, "thinking")
	return jsonscan.IsString(thinking) && seal.IsOwn(jsonscan.Inner(thinking), jsonscan.Inner(jsonscan.MemberOf(block, "signature")))
}

// linkedKinds are the kinds of the files that the sources of blocks name. The rest are documents.
var linkedKinds = map[string]files.Kind{"image": files.Image}

// isLinked reports whether the source of a block names a file without its content. It reads no
// further than to the type of the source.
func isLinked(block []byte) bool {
	c := jsonscan.Again(block)
	for c.OpenObject(); c.Member(); {
		if string(c.Name()) != "source" {
			c.Skip()
			continue
		}
		for c.OpenObject(); c.Member(); {
			if string(c.Name()) == "type" {
				kind := string(jsonscan.DecodedOf(c.StringOrSkip()))
				return kind == "url" || kind == "file"
			}
			c.Skip()
		}
	}
	return false
}

// checkSource reads the source of an image or a document.
func checkSource(p *strict.Pass, objects *strict.Table) {
	if p.JSON.Kind() != jsonscan.Object {
		p.JSON.Skip()
		return
	}
	if file, m := p.ReadData(objects); m.Type() == "base64" {
		files.Add(&p.View.Costs.Files, file.Kind, file.Data)
	}
}

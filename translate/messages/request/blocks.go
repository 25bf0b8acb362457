package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// maxNesting bounds the depth of blocks within blocks. The deepest block of the format is
// a text in a search result in a tool result.
const maxNesting = 3

// block is what is known of a content block that has been read.
type block struct {
	strict.Members
	thinking, signature []byte // raw strings
	linked              bool   // the source names a file without its content
}

// selfSigned reports whether the block is thinking that no messages provider signed: it
// has a signature of this gateway, or a sealed one of another format.
func (b *block) selfSigned() bool {
	if b.Type() != "thinking" || b.thinking == nil {
		return false
	}
	return seal.IsOwn(jsonscan.Inner(b.thinking), jsonscan.Inner(b.signature))
}

// blocks reads an array of content blocks. It reports whether there are blocks and
// this gateway signed all of them; the spans of fewer are added to the cuts. Only the
// blocks of a message itself, at level 0, can be self-signed.
func (r *request) blocks(level int) (selfSigned bool) {
	r.JSON.EnterArray()
	cuts := strict.Cutter{Spans: &r.View.SelfSigned}
	for i := 0; r.JSON.Element(); i++ {
		r.PushIndex(i)
		if level == 0 {
			r.Part(partBlocks + i)
		}
		var b block
		start := r.JSON.Offset()
		if r.block(&b, level) {
			r.WantType(&b.Members)
		}
		if level == 0 {
			cuts.Element(translate.Span{Start: start, End: r.JSON.Offset()}, b.selfSigned())
		}
		r.Pop()
	}
	return cuts.All()
}

// block reads a content block, and reports whether the value is an object. The faults
// inside the block count only if its type is one whose inside is checked.
func (r *request) block(b *block, level int) (ok bool) {
	before := r.Mark()
	ok = r.ReadObject(&b.Members, blockShapes, func(name string) { r.blockMember(b, name, level) })
	switch b.Type() {
	case "image", "document", "search_result", "tool_result":
	default:
		if ok {
			r.Return(before)
		}
	}
	if b.linked {
		r.View.Costs.Files.AddNamed(linkedKinds[b.Type()])
	}
	return ok
}

// linkedKinds are the kinds of the files that the sources of blocks name. The rest are documents.
var linkedKinds = map[string]token.FileKind{"image": token.ImageFile}

// blockMember reads one member of a block.
func (r *request) blockMember(b *block, name string, level int) {
	switch kind := r.JSON.Kind(); {
	case name == "thinking":
		b.thinking = r.JSON.StringOrSkip()
	case name == "signature":
		b.signature = r.JSON.StringOrSkip()
	case name == "source" && kind == jsonscan.Object:
		b.linked = r.source(level)
	case name == "content" && kind == jsonscan.Array && level < maxNesting:
		r.blocks(level + 1)
	case name == "cache_control", name == "citations":
		r.Options()
	default:
		r.JSON.Skip()
	}
}

// source reads the source of an image or a document. It reports whether the source names
// a file without its content.
func (r *request) source(level int) (linked bool) {
	var s strict.Members
	var file token.FileKind
	var data []byte
	r.ReadObject(&s, sourceShapes, func(name string) {
		switch kind := r.JSON.Kind(); {
		case name == "media_type" && kind == jsonscan.String:
			text, _ := r.JSON.Text()
			file = token.FileKindOf(text)
		case name == "data" && kind == jsonscan.String:
			data = jsonscan.Inner(r.JSON.Skip())
		case name == "content" && kind == jsonscan.Array && level < maxNesting:
			r.blocks(level + 1)
		default:
			r.JSON.Skip()
		}
	})
	if s.Type() == "base64" {
		r.View.Costs.Files.Add(file, data)
	}
	r.WantType(&s)
	return s.Type() == "url" || s.Type() == "file"
}

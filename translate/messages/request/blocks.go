package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/strict"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// maxNesting is how deep blocks within blocks are read: a text in a search
// result in a tool result is the deepest that the format has.
const maxNesting = 3

// block is what is known of a content block before its end.
type block struct {
	kind      blockKind
	members   [memberCount]jsonscan.Kind // Invalid where there is none
	thinking  []byte                     // raw strings, quotes included
	signature []byte

	// Of a source.
	file token.FileKind // what its media_type says
	data int            // the length of data
}

// blocks reads an array of content blocks. It reports whether all of them, and
// at least one, were minted by this gateway; the spans of fewer are noted as
// cuts. Only the blocks of a message itself, at level 0, can be.
func (r *request) blocks(level int) (minted bool) {
	r.EnterArray()
	cuts := strict.Cutter{Spans: &r.View.Minted}
	for i := 0; r.Element(); i++ {
		r.PushIndex(i)
		if level == 0 {
			r.Part(partBlocks + i)
		}
		start := r.Offset()
		b, ok := r.block(level)
		if ok {
			r.requireOf(&b)
		}
		if level == 0 {
			cuts.Element(translate.Span{Start: start, End: r.Offset()}, b.minted())
		}
		r.Pop()
	}
	return cuts.All()
}

// block reads a content block. What is found wrong inside it counts only if
// the block's type says that the gateway knows it; ok is false when it is no
// block at all.
func (r *request) block(level int) (b block, ok bool) {
	if !r.EnterObject() {
		r.Refuse("must be an object")
		return b, false
	}
	before := r.Mark()
	r.eachMember(&b, func(m member) { r.blockMember(&b, m, level) })
	if !b.kind.readsInside() {
		r.Return(before)
	}
	return b, true
}

// eachMember reads the members of a block or a source.
func (r *request) eachMember(b *block, read func(member)) {
	for r.Member() {
		m := memberIndex.Index(r.Name())
		if m < 0 {
			r.Skip()
			continue
		}
		b.members[m] = r.Kind()
		r.Push(memberNames[m])
		read(member(m))
		r.Pop()
	}
}

// blockMember reads one member of a block.
func (r *request) blockMember(b *block, m member, level int) {
	switch kind := b.members[m]; {
	case m == memberType && kind == jsonscan.String:
		text, _ := r.Text()
		b.kind = blockTypes.of(text)
	case m == memberThinking && kind == jsonscan.String:
		b.thinking, _ = r.RawString()
	case m == memberSignature && kind == jsonscan.String:
		b.signature, _ = r.RawString()
	case m == memberSource && kind == jsonscan.Object:
		r.source(level)
	case m == memberContent && kind == jsonscan.Array && level < maxNesting:
		r.blocks(level + 1)
	case m.options() && kind == jsonscan.Object:
		r.Options()
	default:
		r.Skip()
	}
}

// requireOf notes what a block lacks. Blocks of unknown types pass.
func (r *request) requireOf(b *block) {
	if kind := b.members[memberType]; kind != jsonscan.String {
		r.WantKind("type", kind, jsonscan.String)
		return
	}
	for _, n := range kinds[b.kind].needs {
		if kind := b.members[n.member]; !n.optional() || !strict.Missing(kind) {
			r.WantKind(memberNames[n.member], kind, n.kind)
		}
	}
	if b.kind == toolResultBlock {
		r.wantContent(b.members[memberContent])
	}
}

// wantContent checks the kind of the content of a tool result, which may be
// missing.
func (r *request) wantContent(kind jsonscan.Kind) {
	switch kind {
	case jsonscan.Invalid, jsonscan.Null, jsonscan.String, jsonscan.Array:
	default:
		r.NoteMember("content", wantContent+", got "+kind.String())
	}
}

// source reads the source of an image or a document.
func (r *request) source(level int) {
	var s block
	r.EnterObject()
	r.eachMember(&s, func(m member) { r.sourceMember(&s, m, level) })
	if s.kind == base64Source {
		r.View.Files.Add(s.file, s.data)
	}
	r.requireSource(&s)
}

// sourceMember reads one member of a source.
func (r *request) sourceMember(s *block, m member, level int) {
	switch kind := s.members[m]; {
	case m == memberType && kind == jsonscan.String:
		text, _ := r.Text()
		s.kind = sourceTypes.of(text)
	case m == memberMediaType && kind == jsonscan.String:
		text, _ := r.Text()
		s.file = token.FileKindOf(text)
	case m == memberData && kind == jsonscan.String:
		s.data = len(r.Skip())
	case m == memberContent && kind == jsonscan.Array && level < maxNesting:
		r.blocks(level + 1)
	default:
		r.Skip()
	}
}

// requireSource notes what a source lacks. Sources of unknown types pass.
func (r *request) requireSource(s *block) {
	r.requireOf(s)
	if s.kind != contentSource {
		return
	}
	switch kind := s.members[memberContent]; kind {
	case jsonscan.String, jsonscan.Array:
	case jsonscan.Invalid, jsonscan.Null:
		r.NoteMember("content", strict.Required)
	default:
		r.NoteMember("content", wantContent+", got "+kind.String())
	}
}

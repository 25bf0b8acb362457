package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// source reads where an image or a document is.
func (r *reader) source(b blockObject, level int) (source blockObject, kind blockKind) {
	source = blockObject{&r.levels[level].source}
	c := jsonscan.Again(b.raw(memberSource))
	source.Read(r.x, &c, memberIndex, "source.")
	kind = sourceTypes.of(source.word())
	if kind != unknownBlock {
		source.LoseOthers(r.x, members[kind], memberIndex, "source.")
	}
	return source, kind
}

// image writes an image.
func (r *reader) image(b blockObject, level int) {
	if !r.x.Keep(core.Image, nil) {
		return
	}
	source, kind := r.source(b, level)
	m := &r.parts.media
	*m = core.Media{MediaType: source.text(memberMediaType), Data: source.text(memberData)}
	switch {
	case kind == base64Source:
	case kind == urlSource && r.x.Keep(core.ImageAddress, nil):
		*m = core.Media{Kind: core.Address, URL: source.text(memberURL)}
	case kind == fileSource && r.x.Keep(core.ImageReference, nil):
		*m = core.Media{Kind: core.Reference, URL: source.text(memberFileID)}
	case kind == urlSource, kind == fileSource:
		return
	default:
		r.x.Lose(unknownImageRow, source.raw(memberType))
		return
	}
	r.x.Answer.HasImages, r.x.Answer.HasMedia = true, true
	r.w.Image(m)
	r.breakpoint(b, r.cachePart(level))
}

// document writes a document.
func (r *reader) document(b blockObject, level int) {
	if !r.x.Keep(core.Document, nil) {
		return
	}
	r.cites(b)
	m := &r.parts.media
	*m = core.Media{Title: r.optional(b.raw(memberTitle), "title"), Context: r.optional(b.raw(memberContext), "context")}
	source, kind := r.source(b, level)
	m.MediaType, m.Data = source.text(memberMediaType), source.text(memberData)
	switch kind {
	case textSource:
		r.textDocument(b, m, level)
	case contentSource:
		r.partsDocument(b, m, source.raw(memberContent), level)
	case base64Source:
		r.file(b, m, source, level)
	case urlSource:
		m.Kind, m.URL = core.Address, source.text(memberURL)
		r.fileElsewhere(b, m, core.FileAddress, level)
	case fileSource:
		m.Kind, m.URL = core.Reference, source.text(memberFileID)
		r.fileElsewhere(b, m, core.FileReference, level)
	default:
		r.x.Lose(unknownDocumentRow, source.raw(memberType))
	}
}

func (r *reader) textDocument(b blockObject, m *core.Media, level int) {
	m.Kind = core.PlainText
	if len(m.Title)+len(m.Context)+len(m.Data) > 0 && r.x.Keep(core.TextDocument, nil) {
		r.w.Document(m)
		r.breakpoint(b, r.cachePart(level))
	}
}

// partsDocument writes a document that is made of texts and images.
func (r *reader) partsDocument(b blockObject, m *core.Media, content []byte, level int) {
	if !r.x.Keep(core.PartsDocument, nil) {
		return
	}
	r.w.OpenDocument(m)
	if text := jsonscan.Inner(content); len(text) > 0 {
		r.w.Text(text)
	}
	r.within(level+1, content, "source.content", documentBlocks)
	r.w.CloseDocument()
	r.breakpoint(b, core.CacheNestedPart)
}

// file writes a PDF document, the only kind of file that the format has.
func (r *reader) file(b blockObject, m *core.Media, source blockObject, level int) {
	if string(m.MediaType) != "application/pdf" {
		r.x.Lose(unknownFileRow, source.raw(memberMediaType))
		return
	}
	r.fileElsewhere(b, m, core.File, level)
}

func (r *reader) fileElsewhere(b blockObject, m *core.Media, as core.Concept, level int) {
	if r.x.Keep(as, nil) {
		r.x.Answer.HasMedia = true
		r.w.Document(m)
		r.breakpoint(b, r.cachePart(level))
	}
}

// searchResult writes something found by a search.
func (r *reader) searchResult(b blockObject, level int) {
	if !r.x.Keep(core.SearchResult, nil) {
		return
	}
	r.cites(b)
	r.w.OpenSearchResult(b.text(memberTitle), b.text(memberSource))
	r.within(level+1, b.raw(memberContent), "content", searchBlocks)
	r.w.CloseSearchResult()
	r.breakpoint(b, r.cachePart(level))
}

// cites reports whether the answer is to cite a document.
func (r *reader) cites(b blockObject) {
	raw := b.raw(memberCitations)
	if raw == nil || jsonscan.IsEmptyList(raw) {
		return
	}
	c := jsonscan.Again(raw)
	if !c.EnterObject() {
		r.x.Invalid("citations", "must be an object")
		return
	}
	for c.Member() {
		name := c.Name()
		value := c.Skip()
		if string(name) != "enabled" {
			r.x.LoseMember("citations.", name)
		} else if string(value) != "null" && r.isTrue(value, "citations.enabled") {
			r.x.Keep(core.Citations, nil)
		}
	}
}

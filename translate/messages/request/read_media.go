package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// source reads the source of an image or a document.
func (r *reader) source(b *core.Object, level int) (source *core.Object, kind string) {
	source = &r.levels[level].source
	source.ReadRaw(r.x, b.Raw("source"), sourceShapes, "source")
	s := source.Shape()
	source.LoseOthers(r.x, s)
	return source, s.Type()
}

// image writes an image.
func (r *reader) image(b *core.Object, level int) {
	if !r.x.Keep(core.Image, nil) {
		return
	}
	source, kind := r.source(b, level)
	m := &r.parts.media
	*m = core.Media{MediaType: source.Text("media_type"), Data: source.Text("data")}
	switch {
	case kind == "base64":
	case kind == "url" && r.x.Keep(core.ImageAddress, nil):
		*m = core.Media{Kind: core.Address, URL: source.Text("url")}
	case kind == "file" && r.x.Keep(core.ImageReference, nil):
		*m = core.Media{Kind: core.Reference, URL: source.Text("file_id")}
	case kind == "url", kind == "file":
		return
	default:
		r.x.Lose(unknownImageRow, source.Raw("type"))
		return
	}
	r.x.Answer.HasImages, r.x.Answer.HasMedia = true, true
	r.w.Image(m)
	r.breakpoint(b, r.cachePart(level))
}

// document writes a document.
func (r *reader) document(b *core.Object, level int) {
	if !r.x.Keep(core.Document, nil) {
		return
	}
	r.cites(b)
	m := &r.parts.media
	*m = core.Media{Title: r.optional(b.Raw("title"), "title"), Context: r.optional(b.Raw("context"), "context")}
	source, kind := r.source(b, level)
	m.MediaType, m.Data = source.Text("media_type"), source.Text("data")
	switch kind {
	case "text":
		r.textDocument(b, m, level)
	case "content":
		r.partsDocument(b, m, source.Raw("content"), level)
	case "base64":
		r.file(b, m, source, level)
	case "url":
		m.Kind, m.URL = core.Address, source.Text("url")
		r.fileElsewhere(b, m, core.FileAddress, level)
	case "file":
		m.Kind, m.URL = core.Reference, source.Text("file_id")
		r.fileElsewhere(b, m, core.FileReference, level)
	default:
		r.x.Lose(unknownDocumentRow, source.Raw("type"))
	}
}

func (r *reader) textDocument(b *core.Object, m *core.Media, level int) {
	m.Kind = core.PlainText
	if len(m.Title)+len(m.Context)+len(m.Data) > 0 && r.x.Keep(core.TextDocument, nil) {
		r.w.Document(m)
		r.breakpoint(b, r.cachePart(level))
	}
}

// partsDocument writes a document that consists of texts and images.
func (r *reader) partsDocument(b *core.Object, m *core.Media, content []byte, level int) {
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

// file writes a PDF document, the only kind of file in the format.
func (r *reader) file(b *core.Object, m *core.Media, source *core.Object, level int) {
	if string(m.MediaType) != "application/pdf" {
		r.x.Lose(unknownFileRow, source.Raw("media_type"))
		return
	}
	r.fileElsewhere(b, m, core.File, level)
}

func (r *reader) fileElsewhere(b *core.Object, m *core.Media, as core.Concept, level int) {
	if r.x.Keep(as, nil) {
		r.x.Answer.HasMedia = true
		r.w.Document(m)
		r.breakpoint(b, r.cachePart(level))
	}
}

// searchResult writes the result of a search.
func (r *reader) searchResult(b *core.Object, level int) {
	if !r.x.Keep(core.SearchResult, nil) {
		return
	}
	r.cites(b)
	r.w.OpenSearchResult(b.Text("title"), b.Text("source"))
	r.within(level+1, b.Raw("content"), "content", searchBlocks)
	r.w.CloseSearchResult()
	r.breakpoint(b, r.cachePart(level))
}

// cites keeps the request to cite a document, if there is one.
func (r *reader) cites(b *core.Object) {
	raw := b.Raw("citations")
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
			r.x.LoseMember("citations", name)
		} else if string(value) != "null" && r.isTrue(value, "citations.enabled") {
			r.x.Keep(core.Citations, nil)
		}
	}
}

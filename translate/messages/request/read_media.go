package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// source reads the source of an image or a document.
func (r *reader) source(b *core.Object, level int) (source *core.Object, kind string) {
	source = &r.levels[level].source
	source.ReadRaw(r.x, b.Raw("source"), sourceMembers, "source")
	s := source.Shape()
	source.LoseOthers(r.x, s)
	return source, s.Type()
}

// image writes an image.
func (r *reader) image(b *core.Object, level int) {
	switch {
	case !r.x.Keep(core.Image, nil):
		return
	case core.DropImage(r.x, r.w):
		r.breakpoint(b, r.cachePart(level))
		return
	}
	source, kind := r.source(b, level)
	m := &r.args.media
	var written bool
	switch kind {
	case "base64":
		*m = core.Media{MediaType: source.Text("media_type"), Data: source.Text("data")}
		written = sourceData.AddInline(r.x, r.w, m)
	case "url":
		*m = core.Media{Kind: core.Address, URL: source.Text("url")}
		written = core.AddNamed(r.x, r.w, core.ImageAddress, nil, m)
	case "file":
		*m = core.Media{Kind: core.Reference, URL: source.Text("file_id")}
		written = core.AddNamed(r.x, r.w, core.ImageReference, nil, m)
	default:
		r.x.Lose(unknownImageRow, source.Raw("type"))
	}
	if written {
		r.breakpoint(b, r.cachePart(level))
	}
}

// document writes a document.
func (r *reader) document(b *core.Object, level int) {
	if !r.x.Keep(core.Document, nil) {
		return
	}
	r.cites(b)
	m, written := &r.args.media, false
	*m = core.Media{Title: optional(r.x, b, "title"), Context: optional(r.x, b, "context")}
	source, kind := r.source(b, level)
	m.MediaType, m.Data = source.Text("media_type"), source.Text("data")
	switch kind {
	case "text":
		m.Kind = core.PlainText
		if written = len(m.Title)+len(m.Context)+len(m.Data) > 0 && r.x.Keep(core.TextDocument, nil); written {
			r.w.Document(m)
		}
	case "content":
		if r.x.Keep(core.PartsDocument, nil) {
			r.w.OpenDocument(m)
			r.readRaw(source.Raw("content"), level+1, "source.content", documentBlocks)
			r.w.CloseDocument()
			r.breakpoint(b, core.CacheNestedPart)
		}
	case "base64":
		written = sourceData.AddInline(r.x, r.w, m)
	case "url":
		m.Kind, m.URL = core.Address, source.Text("url")
		written = core.AddNamed(r.x, r.w, core.FileAddress, nil, m)
	case "file":
		m.Kind, m.URL = core.Reference, source.Text("file_id")
		written = core.AddNamed(r.x, r.w, core.FileReference, nil, m)
	default:
		r.x.Lose(unknownDocumentRow, source.Raw("type"))
	}
	if written {
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
	r.readRaw(b.Raw("content"), level+1, "content", searchBlocks)
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
		switch value := c.Skip(); {
		case string(name) != "enabled":
			r.x.LoseMember("citations", name)
		case string(value) != "null" && isTrue(r.x, value, "citations.enabled"):
			r.x.Keep(core.Citations, nil)
		}
	}
}

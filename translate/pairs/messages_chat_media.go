package pairs

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages"
)

// shelf is where the pieces of a content go.
type shelf struct {
	texts, images, files *content
	call                 []byte // the id of the call whose media go to another message, escaped
	named                bool   // that message says which call they come from
}

// media begins an image or a file with its first bytes. The first out of a tool
// result is preceded by a word on where it comes from.
func (s *shelf) media(to *content, kind, first string) {
	if s.call != nil && to != s.texts && !s.named {
		s.named = true
		to.add([]byte(kind+" returned by tool call "), s.call, []byte(":"))
	}
	to.part(first)
}

// piece adds a block that a user or a tool may say.
func (x *messagesChat) piece(b *messages.Block, at *place, to *shelf) {
	switch string(b.Type) {
	case "text":
		x.textBlock(b, at, to.texts)
	case "image":
		x.image(b, at, to)
	case "document":
		x.document(b, at, to)
	case "search_result":
		x.searchResult(b, at, to.texts)
	default:
		x.refuse(at.path("type"), shownText(b.Type))
	}
}

// textBlock adds a text; an empty one is no text.
func (x *messagesChat) textBlock(b *messages.Block, at *place, to *content) {
	x.cited(b, at)
	text := inner(b.Text)
	if len(text) == 0 {
		return
	}
	to.add(text)
	x.marked(b, at, to)
}

// cited reports the loss of what a text was said to cite.
func (x *messagesChat) cited(b *messages.Block, at *place) {
	if b.Citations != nil && !isEmptyList(b.Citations) {
		x.losses.AddIn(translate.Hint, at.lost, "citations")
	}
}

// marked carries the breakpoint of a block over to the part added last, where
// the provider takes those.
func (x *messagesChat) marked(b *messages.Block, at *place, to *content) {
	if b.CacheControl == nil {
		return
	}
	if !x.traits.CacheBreakpoints || at.depth > 1 || x.turn.role == "assistant" && at.depth == 1 {
		x.cached(b, at)
		return
	}
	to.mark()
	if x.object(b.CacheControl, at.path("cache_control")) {
		for x.options.Member() {
			if string(x.options.Name()) != "type" {
				x.losses.AddNamed(translate.Hint, at.lost+"cache_control.", x.options.Name())
			}
			x.options.Skip()
		}
	}
}

// cached reports the loss of a breakpoint.
func (x *messagesChat) cached(b *messages.Block, at *place) {
	if b.CacheControl != nil {
		x.losses.AddIn(translate.Hint, at.lost, "cache_control")
	}
}

// image adds an image.
func (x *messagesChat) image(b *messages.Block, at *place, to *shelf) {
	source := x.sources.Source(b.Source, x)
	x.sourceStrays(source, at.lost)
	url := string(source.Type) == "url"
	switch {
	case url && x.traits.ImagesBase64Only:
		x.refuseBy(&noAddresses, at.path("source.type"), shownText(source.Type))
		return
	case !url && string(source.Type) != "base64":
		x.refuse(at.path("source.type"), shownText(source.Type))
		return
	}
	to.media(to.images, "Images", `{"type":"image_url","image_url":{"url":"`)
	if c := to.images; url {
		c.buf = append(c.buf, inner(source.URL)...)
	} else {
		c.buf = appendDataURL(c.buf, inner(source.MediaType), inner(source.Data))
	}
	to.images.buf = append(to.images.buf, `"}}`...)
	x.memory.HasImages, x.memory.HasMedia = true, true
	x.marked(b, at, to.images)
}

func appendDataURL(dst, mediaType, data []byte) []byte {
	dst = append(dst, "data:"...)
	dst = append(dst, mediaType...)
	dst = append(dst, ";base64,"...)
	return append(dst, data...)
}

// document adds a document as a text or a file.
func (x *messagesChat) document(b *messages.Block, at *place, to *shelf) {
	x.cites(b, at)
	title, context := x.optional(b.Title, at, "title"), x.optional(b.Context, at, "context")
	source := *x.sources.Source(b.Source, x) // its content may hold further sources
	x.sourceStrays(&source, at.lost)
	switch string(source.Type) {
	case "text":
		if addLines(to.texts, title, context, inner(source.Data)) {
			x.marked(b, at, to.texts)
		}
	case "content":
		addLines(to.texts, title, context)
		x.documentContent(source.Content, at, to)
		x.cached(b, at)
	case "base64":
		x.file(b, &source, at, to)
	default:
		x.refuse(at.path("source.type"), shownText(source.Type))
	}
}

// file adds a PDF document, the only kind of file that both formats know.
func (x *messagesChat) file(b *messages.Block, source *messages.Source, at *place, to *shelf) {
	switch {
	case string(inner(source.MediaType)) != "application/pdf":
		x.refuse(at.path("source.media_type"), shown(source.MediaType))
		return
	case !x.traits.Files:
		x.refuseBy(&fileParts, at.path("type"), shownText(b.Type))
		return
	}
	addLines(to.texts, inner(b.Context))
	name := inner(b.Title)
	if len(name) == 0 {
		name = []byte("document.pdf")
	}
	to.media(to.files, "Documents", `{"type":"file","file":{"filename":"`)
	c := to.files
	c.buf = append(c.buf, name...)
	c.buf = append(c.buf, `","file_data":"`...)
	c.buf = appendDataURL(c.buf, []byte("application/pdf"), inner(source.Data))
	c.buf = append(c.buf, `"}}`...)
	x.memory.HasMedia = true
	x.marked(b, at, c)
}

// documentContent adds the items of a document that has some.
func (x *messagesChat) documentContent(raw []byte, at *place, to *shelf) {
	if text := inner(raw); text != nil {
		addLines(to.texts, text)
		return
	}
	items := x.within(raw, at, "source.content")
	for b := items.next(); b != nil; b = items.next() {
		switch string(b.Type) {
		case "text":
			x.textBlock(b, &items.at, to.texts)
		case "image":
			x.image(b, &items.at, to)
		default:
			x.refuse(items.at.path("type"), shownText(b.Type))
		}
	}
}

// searchResult adds what was found as lines: title, source and texts.
func (x *messagesChat) searchResult(b *messages.Block, at *place, to *content) {
	x.cites(b, at)
	to.open()
	to.buf = append(to.buf, inner(b.Title)...)
	to.buf = append(to.buf, lineFeed...)
	to.buf = append(to.buf, inner(b.Source)...)
	items := x.within(b.Content, at, "content")
	for item := items.next(); item != nil; item = items.next() {
		if string(item.Type) != "text" {
			x.refuse(items.at.path("type"), shownText(item.Type))
		}
		to.buf = append(to.buf, lineFeed...)
		to.buf = append(to.buf, inner(item.Text)...)
		x.cited(item, &items.at)
		x.cached(item, &items.at)
	}
	to.close()
	x.marked(b, at, to)
}

// cites reports that the answer cannot carry the citations asked for.
func (x *messagesChat) cites(b *messages.Block, at *place) {
	if b.Citations == nil || isEmptyList(b.Citations) {
		return
	}
	if !x.object(b.Citations, at.path("citations")) {
		return
	}
	for x.options.Member() {
		if name := x.options.Name(); string(name) != "enabled" {
			x.losses.AddNamed(translate.Hint, at.lost+"citations.", name)
			x.options.Skip()
		} else if x.isTrueAt(x.option(), at, "citations.enabled") {
			x.losses.AddIn(translate.Shaping, at.lost, "citations")
		}
	}
}

// isTrueAt reports whether a member is true of which nothing was asked so far.
func (x *messagesChat) isTrueAt(raw []byte, at *place, name string) bool {
	if raw != nil && !isTrue(raw) && string(raw) != "false" {
		x.invalid(at.path(name), "must be a boolean")
	}
	return isTrue(raw)
}

// optional is the text of a member of which nothing was asked so far.
func (x *messagesChat) optional(raw []byte, at *place, name string) []byte {
	if raw != nil && !isString(raw) {
		x.invalid(at.path(name), "must be a string")
	}
	return inner(raw)
}

// addLines adds the lines that are not empty as one text, if there are any.
func addLines(to *content, lines ...[]byte) bool {
	opened := false
	for _, line := range lines {
		switch {
		case len(line) == 0:
			continue
		case opened:
			to.buf = append(to.buf, lineFeed...)
		default:
			to.open()
			opened = true
		}
		to.buf = append(to.buf, line...)
	}
	if opened {
		to.close()
	}
	return opened
}

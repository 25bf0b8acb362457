package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/parts"
)

// content writes the content of a message: a text, or parts.
func (r *requestReader) content() { r.contentOf("content") }

// contentOf writes the text or the parts in a member.
func (r *requestReader) contentOf(member string) {
	raw := r.item.Raw(member)
	if text := jsonscan.Inner(raw); len(text) > 0 {
		r.text(text)
	}
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	for r.elements(raw, member); r.element(partShapes); {
		r.readPart()
	}
}

func (r *requestReader) readPart() {
	s := r.part.Shape()
	r.part.LoseOthers(r.x, s)
	switch kind := r.part.Raw("type"); s.Type() {
	case "input_text", "output_text", "text":
		text := r.part.Text("text")
		r.breakpoint(len(text) > 0 && r.text(text))
	case "refusal":
		r.refusal()
	case "input_image":
		r.breakpoint(r.isUsers(kind) && r.image())
	case "input_file":
		r.breakpoint(r.isUsers(kind) && r.file())
	default:
		r.x.Lose(unknownPartRow, kind)
	}
}

// isAssistants reports whether the item at hand is a message of the assistant.
func (r *requestReader) isAssistants() bool {
	return string(r.item.Word("role")) == roleAssistant
}

// isUsers refuses media of anybody but a user or a tool.
func (r *requestReader) isUsers(kind []byte) bool {
	if r.isAssistants() || r.role != core.User {
		r.x.Lose(unknownPartRow, kind)
		return false
	}
	return true
}

// text writes a text of the current role, and reports whether the writer gets it.
func (r *requestReader) text(text []byte) bool {
	switch {
	case r.isAssistants():
		r.beginText()
	case r.late && !r.beginLate():
		return false
	}
	r.w.Text(text)
	return true
}

// refusal writes the text by which the assistant refuses.
func (r *requestReader) refusal() {
	text := r.part.Text("refusal")
	switch {
	case len(text) == 0:
	case r.isAssistants():
		r.beginText()
		r.w.Refusal(text)
	default:
		r.x.Lose(unknownPartRow, r.part.Raw("type"))
	}
}

// image writes an image, and reports whether the writer gets it.
func (r *requestReader) image() bool {
	if !r.x.Keep(core.Image, nil) {
		return false
	}
	r.media = core.Media{}
	switch raw := r.part.Raw("detail"); {
	case raw != nil && !jsonscan.IsString(raw):
		r.x.Invalid("detail", "must be a string")
	case raw != nil && r.x.Keep(core.ImageDetail, nil):
		r.media.Detail = jsonscan.Inner(raw)
	}
	if !r.imageSource() {
		return false
	}
	r.x.Answer.HasImages, r.x.Answer.HasMedia = true, true
	r.w.Image(&r.media)
	return true
}

// imageSource finds out where an image is, and reports whether the writer gets that.
func (r *requestReader) imageSource() bool {
	raw := r.part.Raw("image_url")
	switch {
	case raw != nil:
		r.loseBeside("file_id")
	case r.part.Raw("file_id") != nil:
		r.media.Kind, r.media.URL = core.Reference, r.part.Text("file_id")
		return r.x.Keep(core.ImageReference, nil)
	}
	if !parts.Image(&r.media, raw) {
		r.x.Lose(unknownImageRow, nil)
		return false
	}
	return r.media.Kind != core.Address || r.x.Keep(core.ImageAddress, nil)
}

// loseBeside reports members of the part that are left out beside another one.
func (r *requestReader) loseBeside(members ...string) {
	for _, m := range members {
		if r.part.Raw(m) != nil {
			r.x.LoseMember("", []byte(m))
		}
	}
}

// file writes a document, and reports whether the writer gets it.
func (r *requestReader) file() bool {
	if !r.x.Keep(core.Document, nil) {
		return false
	}
	r.media = core.Media{Title: r.part.Text("filename")}
	if !r.fileSource() {
		return false
	}
	r.x.Answer.HasMedia = true
	r.w.Document(&r.media)
	return true
}

// fileSource finds out where a file is, and reports whether the writer gets that.
func (r *requestReader) fileSource() bool {
	m := &r.media
	if id := r.part.Raw("file_id"); id != nil {
		r.loseBeside("file_data", "file_url")
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return r.x.Keep(core.FileReference, nil)
	}
	if url := r.part.Raw("file_url"); url != nil {
		r.loseBeside("file_data")
		m.Kind, m.URL = core.Address, jsonscan.Inner(url)
		return r.x.Keep(core.FileAddress, nil)
	}
	if !parts.File(m, r.part.Raw("file_data")) {
		r.x.Lose(unknownFileRow, nil)
		return false
	}
	if m.Kind == core.PlainText {
		return r.x.Keep(core.TextDocument, nil)
	}
	return r.x.Keep(core.File, nil)
}

// breakpoint writes the breakpoint of a part, if that was written.
func (r *requestReader) breakpoint(written bool) {
	raw := r.part.Raw("prompt_cache_breakpoint")
	switch {
	case raw == nil:
	case !written:
		r.x.LoseMember("", []byte("prompt_cache_breakpoint"))
	case r.x.Keep(core.CachePart, nil):
		r.w.CacheBreakpoint(r.keptTTL(raw))
	}
}

// keptTTL returns how long a breakpoint holds, nil if the writer does not get that.
func (r *requestReader) keptTTL(breakpoint []byte) (ttl []byte) {
	for name, value := range jsonscan.Members(breakpoint) {
		switch string(name) {
		case "mode":
		case "ttl":
			if known := string(value) == `"5m"` || string(value) == `"1h"`; known && r.x.Keep(core.CachePartTTL, nil) {
				ttl = value
			} else if !known {
				r.x.Lose(otherTTLRow, nil)
			}
		default:
			r.x.LoseMember("prompt_cache_breakpoint", name)
		}
	}
	return ttl
}

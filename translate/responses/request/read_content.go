package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readContent writes the text or the parts in a member of the item to the turn of a role,
// and reports whether the writer got a text.
func (r *requestReader) readContent(member string, role core.Role) (written bool) {
	raw := r.item.Raw(member)
	if text := jsonscan.Inner(raw); len(text) > 0 {
		return r.writeText(text, role)
	}
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	c := jsonscan.Again(raw)
	for r.x.EnterList(&c, member); r.x.NextElement(&c); {
		r.part.Read(r.x, &c, partMembers, "")
		if r.readPart(role) {
			written = true
		}
	}
	return written
}

// writeText writes a text of a role, and reports whether the writer got it.
func (r *requestReader) writeText(text []byte, role core.Role) bool {
	if role == core.Assistant {
		r.turns.assistantText()
	}
	return r.turns.turn.Text(text)
}

// readPart writes the part at hand, and reports whether the writer got it. Only the
// assistant refuses, and only users and tools send media.
func (r *requestReader) readPart(role core.Role) (written bool) {
	s := r.part.Shape()
	r.part.LoseOthers(r.x, s)
	switch kind := s.Type(); {
	case kind == "input_text", kind == "output_text", kind == "text":
		text := r.part.Text("text")
		written = len(text) > 0 && r.writeText(text, role)
	case kind == "refusal" && len(r.part.Text("refusal")) == 0:
		return false
	case kind == "refusal" && role == core.Assistant:
		r.turns.assistantText()
		r.w.Refusal(r.part.Text("refusal"))
		return true
	case kind == "input_image" && role == core.User:
		written = r.readImage()
	case kind == "input_file" && role == core.User:
		written = r.readFile()
	case kind == "input_audio" && role == core.User:
		var sound core.Object
		sound.ReadRaw(r.x, r.part.Raw("input_audio"), soundMembers, "input_audio")
		written = parts.AddRecording(r.x, r.w, &soundData, &r.media, sound.Raw("data"), sound.Raw("format"))
	default:
		r.x.Lose(unknownPartRow, r.part.Raw("type"))
	}
	const member = "prompt_cache_breakpoint"
	switch raw := r.part.Raw(member); {
	case raw == nil:
	case !written:
		r.x.LoseMember("", []byte(member))
	case r.x.Keep(core.CachePart, nil):
		r.w.CacheBreakpoint(parts.Lifetime(r.x, raw, member, "mode"))
	}
	return written
}

// readImage writes the image at hand, and reports whether the writer got it.
func (r *requestReader) readImage() bool {
	p, x, m := &r.part, r.x, &r.media
	switch {
	case !x.Keep(core.Image, nil):
		return false
	case core.DropImage(x, r.w):
		return true
	}
	*m = core.Media{}
	switch raw := p.Raw("detail"); {
	case raw != nil && !jsonscan.IsString(raw):
		x.Invalid("detail", "must be a string")
	case raw != nil && x.Keep(core.ImageDetail, nil):
		m.Detail = jsonscan.Inner(raw)
	}
	url, id := p.Raw("image_url"), p.Raw("file_id")
	if url == nil && id != nil {
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return core.AddNamed(x, r.w, core.ImageReference, nil, m)
	}
	if r.loseBeside(url, "file_id"); !parts.IsWeb(url) {
		return imageData.AddURL(x, r.w, m, url)
	}
	m.Kind, m.URL = core.Address, jsonscan.Inner(url)
	return core.AddNamed(x, r.w, core.ImageAddress, nil, m)
}

// readFile writes the document at hand, and reports whether the writer got it.
func (r *requestReader) readFile() bool {
	p, x, m := &r.part, r.x, &r.media
	if !x.Keep(core.Document, nil) {
		return false
	}
	*m = core.Media{Title: p.Text("filename")}
	switch id, url := p.Raw("file_id"), p.Raw("file_url"); {
	case id != nil:
		r.loseBeside(id, "file_data", "file_url")
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return core.AddNamed(x, r.w, core.FileReference, nil, m)
	case url != nil:
		r.loseBeside(url, "file_data")
		m.Kind, m.URL = core.Address, jsonscan.Inner(url)
		return core.AddNamed(x, r.w, core.FileAddress, nil, m)
	default:
		return fileData.AddURL(x, r.w, m, p.Raw("file_data"))
	}
}

// loseBeside reports the members of the part that are left out beside another one, which
// has a raw value.
func (r *requestReader) loseBeside(raw []byte, others ...string) {
	for _, member := range others {
		if raw != nil && r.part.Raw(member) != nil {
			r.x.LoseMember("", []byte(member))
		}
	}
}

package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// readContent writes the content of the message, a text or parts, to the turn of a role.
// It reports whether the writer got any of it.
func (r *reader) readContent(role core.Role) (written bool) {
	raw := r.message.Raw("content")
	if text := jsonscan.Inner(raw); len(text) > 0 {
		return r.turns.Text(text)
	}
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	c := jsonscan.Again(raw)
	for r.x.EnterList(&c, "content"); r.x.NextElement(&c); {
		r.part.Read(r.x, &c, partMembers, "")
		if r.readPart(role) {
			written = true
		}
	}
	return written
}

// readPart writes the part at hand, and reports whether the writer got it. Only the
// assistant refuses, and only users and tools send media.
func (r *reader) readPart(role core.Role) (written bool) {
	s := r.part.Shape()
	r.part.LoseOthers(r.x, s)
	switch kind := s.Type(); {
	case kind == "text":
		text := r.part.Text("text")
		written = len(text) > 0 && r.turns.Text(text)
	case kind == "refusal" && role == core.Assistant:
		if text := r.part.Text("refusal"); len(text) > 0 {
			r.w.Refusal(text)
			written = true
		}
	case kind == "image_url" && role == core.User:
		written = r.readImage()
	case kind == "file" && role == core.User:
		written = r.readFile()
	case (kind == "input_audio" || kind == "audio_url" || kind == "video_url") && role == core.User:
		written = r.readRecording(kind)
	default:
		r.x.Lose(unknownPartRow, r.part.Raw("type"))
	}
	r.readBreakpoints(written)
	return written
}

// readImage writes the image of the part, and reports whether the writer got it.
func (r *reader) readImage() bool {
	switch {
	case !r.x.Keep(core.Image, nil):
		return false
	case core.DropImage(r.x, r.w):
		return true
	case !r.readInner("image_url"):
		return false
	}
	m := &r.args.media
	*m = core.Media{}
	switch raw := r.inner.Raw("detail"); {
	case raw == nil || !r.x.Keep(core.ImageDetail, nil):
	case jsonscan.IsString(raw):
		m.Detail = jsonscan.Inner(raw)
	default:
		r.x.LoseMember("image_url", []byte("detail"))
	}
	return r.readURL(core.ImageAddress, &imageData)
}

// readURL writes the content at the URL of the object at hand, an address of a concept or data.
func (r *reader) readURL(address core.Concept, data *core.MediaField) bool {
	m, raw := &r.args.media, r.inner.Raw("url")
	if !parts.IsWeb(raw) {
		return data.AddURL(r.x, r.w, m, raw)
	}
	m.Kind, m.URL = core.Address, jsonscan.Inner(raw)
	return core.AddNamed(r.x, r.w, address, addressRows[r.part.Shape().Type()], m)
}

// readRecording writes the sound or the video of the part, and reports whether the writer got it.
func (r *reader) readRecording(kind string) bool {
	m := &r.args.media
	*m = core.Media{}
	switch {
	case !r.readInner(kind):
		return false
	case kind == "video_url":
		return r.readURL(core.RecordingAddress, &videoData)
	case kind == "audio_url":
		return r.readURL(core.RecordingAddress, &audioData)
	}
	return parts.AddRecording(r.x, r.w, &soundData, m, r.inner.Raw("data"), r.inner.Raw("format"))
}

// readFile writes the document of the part, and reports whether the writer got it: data, or a
// reference to a file of the vendor.
func (r *reader) readFile() bool {
	if !r.x.Keep(core.Document, nil) || !r.readInner("file") {
		return false
	}
	m := &r.args.media
	*m = core.Media{Title: r.inner.Text("filename")}
	if id := r.inner.Raw("file_id"); id != nil {
		m.Kind, m.URL = core.Reference, jsonscan.Inner(id)
		return core.AddNamed(r.x, r.w, core.FileReference, nil, m)
	}
	return fileData.AddURL(r.x, r.w, m, r.inner.Raw("file_data"))
}

// readInner reads the object that is a member of the part, and refuses any other value.
func (r *reader) readInner(member string) bool {
	raw := r.part.Raw(member)
	if !isObject(r.x, raw, member) {
		return false
	}
	r.inner.ReadRaw(r.x, raw, fileMembers[member], member)
	return true
}

// breakpoint is a member that puts a breakpoint of the cache behind its part.
type breakpoint struct {
	member  string
	kind    string // its member that states its type
	concept core.Concept
}

var (
	cacheControl = breakpoint{"cache_control", "type", core.CachePart}
	// partBreakpoints are the breakpoints of a part. The second of two is lost.
	partBreakpoints = [...]breakpoint{cacheControl, {"prompt_cache_breakpoint", "mode", core.OtherCachePart}}
)

// readBreakpoints writes the breakpoint of the part, if the writer got the part.
func (r *reader) readBreakpoints(written bool) {
	for i := range partBreakpoints {
		b := &partBreakpoints[i]
		raw := r.part.Raw(b.member)
		switch {
		case raw == nil:
		case !written:
			r.x.LoseMember("", []byte(b.member))
		case r.x.Keep(b.concept, nil):
			written = false
			b.write(r.x, r.w, raw)
		default:
			written = false
		}
	}
}

// readMessageBreakpoint writes the breakpoint of the message at hand behind its last part, of which it
// is concept c. Clients whose messages consist of one text have no part to put it on.
func (r *reader) readMessageBreakpoint(written bool, c core.Concept) {
	switch raw := r.message.Raw(cacheControl.member); {
	case isAbsent(raw):
	case !written:
		r.x.LoseMember("", []byte(cacheControl.member))
	case r.x.KeepAs(c, markedMessageRow, nil):
		cacheControl.write(r.x, r.w, raw)
	}
}

// write writes a raw breakpoint.
func (b *breakpoint) write(x *core.Translation, w core.Writer, raw []byte) {
	if isObject(x, raw, b.member) {
		w.CacheBreakpoint(parts.Lifetime(x, raw, b.member, b.kind))
	}
}

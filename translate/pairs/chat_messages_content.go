package pairs

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// textPart adds a text; an empty one is no text.
func (x *chatMessages) textPart(to *dialog, role string, p *chat.Part) {
	there := len(inner(p.Text)) > 0
	if there {
		to.text(role, p.Text)
	}
	x.breakpoint(to, p, there)
}

// breakpoint carries the breakpoint of a part over to its block, if there is one.
func (x *chatMessages) breakpoint(to *dialog, p *chat.Part, there bool) {
	raw, member := p.CacheControl, "cache_control"
	if raw == nil {
		raw, member = p.Breakpoint, "prompt_cache_breakpoint"
	}
	switch {
	case raw == nil:
	case there:
		x.mark(to, raw, member, lostPart)
	default:
		x.losses.AddIn(translate.Hint, lostPart, member)
	}
	if p.CacheControl != nil && p.Breakpoint != nil {
		x.losses.AddIn(translate.Hint, lostPart, "prompt_cache_breakpoint")
	}
}

// mark puts a breakpoint on the block added last. Of its members only a time
// that the format knows is carried over.
func (x *chatMessages) mark(to *dialog, raw []byte, member, lost string) {
	if !x.object(raw, x.itemPath(member)) {
		return
	}
	kind, ttl := breakpointKinds[member], ""
	for x.options.Member() {
		switch name := string(x.options.Name()); name {
		case kind:
			x.options.Skip()
		case "ttl":
			ttl = x.ttl(lost + member)
		default:
			x.losses.AddNamed(translate.Hint, lost+member+".", []byte(name))
			x.options.Skip()
		}
	}
	to.mark(ttl)
}

// breakpointKinds are the members that say nothing but that a breakpoint is one.
var breakpointKinds = map[string]string{"cache_control": "type", "prompt_cache_breakpoint": "mode"}

// ttl reads how long a cache shall keep, "" for a time that the format does not know.
func (x *chatMessages) ttl(lost string) string {
	raw := x.option()
	switch ttl := textOf(raw); {
	case ttl == "5m" || ttl == "1h":
		return ttl
	case raw != nil && string(raw) != `""`:
		x.losses.AddIn(translate.Hint, lost, ".ttl")
	}
	return ""
}

// image adds an image.
func (x *chatMessages) image(role string, p *chat.Part) {
	x.media = "image_url"
	if len(p.ImageURL) == 0 || p.ImageURL[0] != '{' {
		x.invalid(x.itemPath("image_url"), "must be an object")
		return
	}
	m := x.inside.Media(p.ImageURL, x)
	x.mediaStrays("image_url", m)
	if m.Detail != nil {
		x.losses.AddIn(translate.Hint, lostPart, "image_url.detail")
	}
	url := x.plain(m.URL)
	switch {
	case !isWeb(url):
		x.imageData(role, url)
	case x.traits.ImagesBase64Only:
		x.refuseBy(&noAddresses, x.itemPath("image_url.url"), "")
	default:
		x.dialog.begin(role, `{"type":"image","source":{"type":"url","url":`)
		x.dialog.buf = append(append(x.dialog.buf, m.URL...), "}}"...)
	}
	x.memory.HasImages, x.memory.HasMedia = true, true
	x.breakpoint(&x.dialog, p, x.fault == nil)
}

// imageData adds an image that is sent along.
func (x *chatMessages) imageData(role string, url []byte) {
	kind, payload, ok := dataURL(url)
	if kind == "image/jpg" {
		kind = "image/jpeg"
	}
	switch kind {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
	default:
		ok = false
	}
	if !ok {
		x.refuse(x.itemPath("image_url.url"), "")
		return
	}
	x.base64Source(role, `{"type":"image","source":{"type":"base64","media_type":"`+kind+`","data":"`, payload)
	x.dialog.buf = append(x.dialog.buf, '}')
}

// base64Source begins a block that ends with a source of encoded data.
func (x *chatMessages) base64Source(role, first string, payload []byte) {
	x.dialog.begin(role, first)
	x.dialog.buf = jsonscan.AppendEscaped(x.dialog.buf, payload)
	x.dialog.buf = append(x.dialog.buf, `"}`...)
}

// file adds a document that is sent along: a PDF, or a plain text.
func (x *chatMessages) file(role string, p *chat.Part) {
	x.media = "file"
	if len(p.File) == 0 || p.File[0] != '{' {
		x.invalid(x.itemPath("file"), "must be an object")
		return
	}
	m := x.inside.Media(p.File, x)
	x.mediaStrays("file", m)
	if m.FileID != nil {
		x.refuse(x.itemPath("file.file_id"), "")
		return
	}
	kind, payload, ok := dataURL(x.plain(m.FileData))
	switch {
	case ok && kind == "application/pdf":
		x.base64Source(role, `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"`, payload)
	case ok && kind == "text/plain":
		x.textFile(role, payload)
	default:
		x.refuse(x.itemPath("file.file_data"), "")
		return
	}
	if len(inner(m.Filename)) > 0 {
		x.dialog.buf = append(append(x.dialog.buf, `,"title":`...), m.Filename...)
	}
	x.dialog.buf = append(x.dialog.buf, '}')
	x.memory.HasMedia = true
	x.breakpoint(&x.dialog, p, true)
}

// textFile begins a document that is a plain text.
func (x *chatMessages) textFile(role string, payload []byte) {
	text, err := base64.StdEncoding.AppendDecode(nil, payload)
	if err != nil || !utf8.Valid(text) {
		x.refuse(x.itemPath("file.file_data"), "")
		return
	}
	x.dialog.begin(role, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":`)
	x.dialog.buf = append(jsonscan.AppendString(x.dialog.buf, text), '}')
}

// isWeb reports whether a URL leads to the web.
func isWeb(url []byte) bool { return hasScheme(url, "http:") || hasScheme(url, "https:") }

func hasScheme(url []byte, scheme string) bool {
	return len(url) >= len(scheme) && bytes.EqualFold(url[:len(scheme)], []byte(scheme))
}

// dataURL returns the type of what a data URL holds, in lower case and without
// parameters, and its payload without white space. ok is false for other URLs
// and those whose payload is not in base64.
func dataURL(url []byte) (kind string, payload []byte, ok bool) {
	head, payload, found := bytes.Cut(url, []byte(","))
	if !found || !hasScheme(head, "data:") {
		return "", nil, false
	}
	head = bytes.ToLower(head[len("data:"):])
	head, ok = bytes.CutSuffix(head, []byte(";base64"))
	head, _, _ = bytes.Cut(head, []byte(";"))
	return string(head), unspaced(payload), ok
}

// unspaced is data without the white space of ASCII, in new memory where there
// is some.
func unspaced(data []byte) []byte {
	for _, space := range []byte(" \t\r\n\f") {
		if bytes.IndexByte(data, space) >= 0 {
			return bytes.Join(bytes.Fields(data), nil)
		}
	}
	return data
}

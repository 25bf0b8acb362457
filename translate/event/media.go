package event

import (
	"bytes"
	"cmp"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
)

// Media is an image, a sound or another file in an answer.
type Media struct {
	Type []byte // "image/png"
	Data []byte // in base64, which needs no escapes
	URL  []byte // the address, instead of Data
	Path string // in the notation of the provider, for reports of losses
}

// NewMedia returns media of a decoded type with decoded data, nil unless these are a type and
// base64.
func NewMedia(kind, data []byte, path string) *Media {
	data = media.Standard(data)
	for _, b := range kind {
		if b >= utf8.RuneSelf || !translate.PlainByte(b) && b != '/' && b != '.' && b != '+' && b != ';' && b != '=' {
			return nil
		}
	}
	for _, b := range data {
		if b >= utf8.RuneSelf || !translate.PlainByte(b) && b != '/' && b != '+' && b != '=' {
			return nil
		}
	}
	if _, name, _ := bytes.Cut(kind, []byte("/")); len(name) == 0 || len(data) == 0 {
		return nil
	}
	return &Media{Type: kind, Data: data, Path: path}
}

// NewLink returns media at a decoded address, nil unless that is one of the web. Without a decoded
// type, the end of the address decides; without one there either, it is an image.
func NewLink(kind, url []byte, path string) *Media {
	if !bytes.HasPrefix(url, []byte("https://")) && !bytes.HasPrefix(url, []byte("http://")) {
		return nil
	}
	return &Media{Type: []byte(cmp.Or(string(kind), media.Find(nil, url).Name, "image/png")), URL: url, Path: path}
}

// The functions report whether a format has a place for a part of the content of an answer, in
// formats that have one for texts alone, for calls as well, for images as well, for images by
// address as well, or for everything.

// PlaceOfText reports whether the content is a text.
func PlaceOfText(e *Event) bool { return e.Kind == Text }

// PlaceOfCalls reports whether the content is a text or a call.
func PlaceOfCalls(e *Event) bool { return e.Kind == Text || e.Kind == ToolStart }

// PlaceOfImages reports whether the content is a text, a call or an image in bytes.
func PlaceOfImages(e *Event) bool { return PlaceOfLinks(e) && (e.Media == nil || e.Media.URL == nil) }

// PlaceOfLinks reports whether the content is a text, a call or an image, also by address.
func PlaceOfLinks(e *Event) bool {
	return PlaceOfCalls(e) || e.Kind == Inline && bytes.HasPrefix(e.Media.Type, []byte("image/"))
}

// PlaceOfMedia reports whether the content is a text, a call or any media.
func PlaceOfMedia(e *Event) bool { return PlaceOfCalls(e) || e.Kind == Inline }

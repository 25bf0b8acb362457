package event

import (
	"bytes"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/media"
)

// Media is an image, a sound or another file in an answer.
type Media struct {
	Type []byte // "image/png"
	Data []byte // in base64, which needs no escapes
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
	return &Media{kind, data, path}
}

// The functions report whether a format has a place for a part of the content of an answer, in
// formats that have one for texts alone, for calls as well, for images as well, or for everything.

// PlaceOfText reports whether the content is a text.
func PlaceOfText(e *Event) bool { return e.Kind == Text }

// PlaceOfCalls reports whether the content is a text or a call.
func PlaceOfCalls(e *Event) bool { return e.Kind == Text || e.Kind == ToolStart }

// PlaceOfImages reports whether the content is a text, a call or an image.
func PlaceOfImages(e *Event) bool {
	return PlaceOfCalls(e) || e.Kind == Inline && bytes.HasPrefix(e.Media.Type, []byte("image/"))
}

// PlaceOfMedia reports whether the content is a text, a call or any media.
func PlaceOfMedia(e *Event) bool { return PlaceOfCalls(e) || e.Kind == Inline }

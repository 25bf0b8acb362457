package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// content writes the content of the message: a text or parts.
func (r *reader) content() {
	raw := r.message.Raw("content")
	if text := jsonscan.Inner(raw); len(text) > 0 {
		r.text(text)
	}
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	for r.elements(raw, "content"); r.element(); {
		r.item.Read(r.x, &r.list, partShapes, "")
		r.part()
	}
}

// part writes a part that the role may have: only assistants refuse, and only users and
// tools send media.
func (r *reader) part() {
	s := r.item.Shape()
	r.item.LoseOthers(r.x, s)
	switch kind := s.Type(); {
	case kind == "text":
		text := r.item.Text("text")
		r.breakpoint(len(text) > 0 && r.text(text))
	case kind == "refusal" && r.role == core.Assistant:
		r.refusalPart()
	case kind == "image_url" && r.role == core.User:
		r.image()
	case kind == "file" && r.role == core.User:
		r.file()
	default:
		r.x.Lose(unknownPartRow, r.item.Raw("type"))
	}
}

func (r *reader) refusalPart() {
	text := r.item.Text("refusal")
	if len(text) > 0 {
		r.w.Refusal(text)
	}
	r.breakpoint(len(text) > 0)
}

// breakpoint writes the breakpoint of a part that the writer got. The second of two
// breakpoints is lost.
func (r *reader) breakpoint(written bool) {
	first, second := r.item.Raw("cache_control"), r.item.Raw("prompt_cache_breakpoint")
	if first != nil {
		r.keepBreakpoint(first, "cache_control", core.CachePart, written)
	}
	if second != nil {
		r.keepBreakpoint(second, "prompt_cache_breakpoint", core.OtherCachePart, written && first == nil)
	}
}

func (r *reader) keepBreakpoint(raw []byte, member string, as core.Concept, written bool) {
	if !written {
		r.x.LoseMember("", []byte(member))
	} else if r.x.Keep(as, nil) {
		r.writeBreakpoint(raw, member)
	}
}

// breakpointKinds are the members without a meaning of their own: the types of breakpoints.
var breakpointKinds = map[string]string{"cache_control": "type", "prompt_cache_breakpoint": "mode"}

// writeBreakpoint writes a breakpoint behind the last part. Of its members, only a known
// lifetime is kept.
func (r *reader) writeBreakpoint(raw []byte, member string) {
	if !r.isObject(raw, member) {
		return
	}
	var ttl []byte
	for name, value := range jsonscan.Members(raw) {
		switch {
		case string(name) == breakpointKinds[member]:
		case string(name) == "ttl" && (jsonscan.IsZero(value) || isKnownTTL(value)):
			ttl = r.keptTTL(value)
		default:
			r.x.LoseMember(member, name)
		}
	}
	r.w.CacheBreakpoint(ttl)
}

func isKnownTTL(raw []byte) bool {
	text := string(jsonscan.Inner(raw))
	return text == "5m" || text == "1h"
}

// keptTTL returns the raw lifetime of a breakpoint, nil for the default.
func (r *reader) keptTTL(raw []byte) []byte {
	if jsonscan.IsZero(raw) || !r.x.Keep(core.CachePartTTL, nil) {
		return nil
	}
	return raw
}

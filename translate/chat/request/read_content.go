package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The members of a part of the content, or of a thinking block.
const (
	partType = iota
	partText
	partRefusal
	partImage
	partFile
	partThinking
	partSignature
	partData
	partCache
	partBreakpoint
)

var partMembers = core.NewNames(
	"type", "text", "refusal", "image_url", "file", "thinking", "signature", "data", "cache_control", "prompt_cache_breakpoint",
)

// partKind is the type of a part, as one bit of a set.
type partKind uint8

const (
	textPart partKind = 1 << iota
	refusalPart
	imagePart
	filePart
)

// What may stand where.
const (
	textParts      = textPart
	userParts      = textPart | imagePart | filePart
	assistantParts = textPart | refusalPart
)

// kindOf returns the kind of a part, 0 for one that is not known, and the members
// that it has.
func kindOf(name []byte) (kind partKind, own core.Set) {
	member := partType
	switch string(name) {
	case "text":
		kind, member = textPart, partText
	case "refusal":
		kind, member = refusalPart, partRefusal
	case "image_url":
		kind, member = imagePart, partImage
	case "file":
		kind, member = filePart, partFile
	}
	return kind, core.SetOf(partType, member, partCache, partBreakpoint)
}

// content writes the content of the message: a text, or parts of the allowed
// kinds.
func (r *reader) content(allowed partKind) {
	raw := r.message.Raw(messageContent)
	if text := jsonscan.Inner(raw); len(text) > 0 {
		r.say(text)
	}
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	for r.elements(raw, "content"); r.element(); {
		r.item.Read(r.x, &r.list, partMembers, "")
		r.part(allowed)
	}
}

func (r *reader) part(allowed partKind) {
	kind, own := kindOf(word(&r.item, partType))
	if kind&allowed == 0 {
		r.x.Lose(unknownPartRow, r.item.Raw(partType))
		return
	}
	r.item.LoseOthers(r.x, own, partMembers, "")
	switch kind {
	case textPart:
		r.textPart()
	case refusalPart:
		r.refusalPart()
	case imagePart:
		r.image()
	case filePart:
		r.file()
	}
}

// textPart writes a text; an empty one is no text.
func (r *reader) textPart() {
	text := jsonscan.Inner(r.item.Raw(partText))
	r.breakpoint(len(text) > 0 && r.say(text))
}

func (r *reader) refusalPart() {
	text := jsonscan.Inner(r.item.Raw(partRefusal))
	if len(text) > 0 {
		r.w.Refusal(text)
	}
	r.breakpoint(len(text) > 0)
}

// breakpoint writes the breakpoint of a part, if that was written. Of two the
// second is lost.
func (r *reader) breakpoint(written bool) {
	first, second := r.item.Raw(partCache), r.item.Raw(partBreakpoint)
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

// breakpointKinds are the members that say nothing but that a breakpoint is one.
var breakpointKinds = map[string]string{"cache_control": "type", "prompt_cache_breakpoint": "mode"}

// writeBreakpoint writes a breakpoint behind what was written last. Of its members
// only a time that is known is kept.
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
			r.x.LoseMember(member+".", name)
		}
	}
	r.w.CacheBreakpoint(ttl)
}

func isKnownTTL(raw []byte) bool {
	text := string(jsonscan.Inner(raw))
	return text == "5m" || text == "1h"
}

// keptTTL returns how long a breakpoint holds, nil if it does not say that.
func (r *reader) keptTTL(raw []byte) []byte {
	if jsonscan.IsZero(raw) || !r.x.Keep(core.CachePartTTL, nil) {
		return nil
	}
	return raw
}

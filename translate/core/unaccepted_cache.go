package core

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// MaxBreakpoints is the greatest number of breakpoints of the cache in a messages request, that of the
// whole request among them.
const MaxBreakpoints = 4

// requestCache moves the breakpoint of a whole messages request to its last part that can have one, for
// services that accept breakpoints of parts alone. Without such a part, and beside too many others,
// it is left out.
func (r *refusals) requestCache() {
	if !r.traits.NoRequestCache || jsonscan.Blank(r.at(CacheRequest)) {
		return
	}
	if bytes.Count(r.stated.body, []byte(`"cache_control"`)) <= MaxBreakpoints {
		turns := slices.Collect(r.stated.objects(r.stated.at("messages")))
		for _, turn := range slices.Backward(turns) {
			if r.markLast(turn["content"]) {
				r.Moved = append(r.Moved, r.rows.concepts[CacheRequest].Path)
				return
			}
		}
	}
	r.leave(translate.Hint, CacheRequest)
}

// markLast puts the breakpoint of the request on the last part of a content that can have one, unless the
// part has its own. It reports whether there is such a part.
func (r *refusals) markLast(content place) (marked bool) {
	raw, breakpoint := r.stated.rawAt(content), `"cache_control":`+string(r.at(CacheRequest))
	if jsonscan.IsString(raw) && !jsonscan.Blank(raw) {
		part := `[{"type":"text","text":` + string(raw) + `,` + breakpoint + `}]`
		r.Edits = append(r.Edits, edit.Edit{Span: content.value, With: []byte(part)})
		return true
	}
	parts := slices.Collect(r.stated.objects(content))
	for _, part := range slices.Backward(parts) {
		kind := part["type"]
		switch jsonscan.TextOf(r.stated.rawAt(kind)) {
		case "", "thinking", "redacted_thinking":
			continue
		case "text":
			if jsonscan.Blank(r.stated.rawAt(part["text"])) {
				continue
			}
		}
		switch own := part["cache_control"]; {
		case own.value.Empty():
			end := kind.value.End
			r.Edits = append(r.Edits, edit.Edit{Span: translate.Span{Start: end, End: end}, With: []byte("," + breakpoint)})
		case jsonscan.Blank(r.stated.rawAt(own)):
			r.Edits = append(r.Edits, edit.Edit{Span: own.value, With: r.at(CacheRequest)})
		}
		return true
	}
	return false
}

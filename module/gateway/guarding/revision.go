package guarding

import "github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"

// revision is a text with the edits of several guards, one after the other. The edits replace
// parts of the original, are in order, and do not overlap.
type revision struct {
	text  string
	edits []aigateway.GuardEdit
	guard string // that has edited last
}

// apply edits the text by edits of one guard, which are in order.
func (r *revision) apply(guard string, edits []aigateway.GuardEdit) {
	for i := len(edits) - 1; i >= 0; i-- { // the offsets of those before stay the same
		r.edit(edits[i])
		r.guard = guard
	}
}

// edit replaces a part of the text. It is merged with the edits that the part touches.
func (r *revision) edit(e aigateway.GuardEdit) {
	var before, behind []aigateway.GuardEdit
	merged, shift := e, 0 // shift is how much longer the text is than the original, up to an edit
	begun := false
	for _, old := range r.edits {
		start, end := old.Start+shift, old.Start+shift+len(old.With)
		grown := len(old.With) - (old.End - old.Start)
		switch {
		case end <= e.Start && (end < e.Start || start < e.Start):
			before = append(before, old)
			shift += grown
			continue
		case start >= e.End:
			behind = append(behind, old)
			continue
		}
		if !begun {
			begun = true
			merged.Start, merged.End = min(e.Start-shift, old.Start), e.End-shift
		}
		if start < e.Start {
			merged.With = old.With[:e.Start-start] + merged.With
		}
		if end > e.End {
			merged.With += old.With[e.End-start:]
		}
		shift += grown
		merged.End = max(e.End-shift, old.End)
	}
	if !begun {
		merged.Start, merged.End = e.Start-shift, e.End-shift
	}
	r.text = r.text[:e.Start] + e.With + r.text[e.End:]
	r.edits = append(append(before, merged), behind...)
}

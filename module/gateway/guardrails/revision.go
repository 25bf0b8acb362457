package guardrails

import (
	"iter"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
)

// byText returns the edits of each text. The edits are in order.
func byText(edits []aigateway.GuardEdit) iter.Seq2[int, []aigateway.GuardEdit] {
	return func(yield func(int, []aigateway.GuardEdit) bool) {
		for first := 0; first < len(edits); {
			text, end := edits[first].Text, first+1
			for end < len(edits) && edits[end].Text == text {
				end++
			}
			if !yield(text, edits[first:end]) {
				return
			}
			first = end
		}
	}
}

// replaced returns a part of a text with edits of the text, which are in the part, in order, and
// do not overlap. The part begins at an offset of the text.
func replaced(part string, offset int, edits []aigateway.GuardEdit) string {
	var b strings.Builder
	b.Grow(len(part))
	done := 0
	for _, e := range edits {
		b.WriteString(part[done : e.Start-offset])
		b.WriteString(e.With)
		done = e.End - offset
	}
	b.WriteString(part[done:])
	return b.String()
}

// revision is a text with the edits of several guards, one after the other. The edits replace
// parts of the original, are in order, and do not overlap.
type revision struct {
	text  string
	edits []aigateway.GuardEdit
	guard string // that has edited last
}

// apply edits the text by edits of one guard, which are in order. An edit is merged with the
// edits before it that it overlaps.
func (r *revision) apply(guard string, edits []aigateway.GuardEdit) {
	var all []aigateway.GuardEdit
	old, shift := r.edits, 0 // shift is how much longer the text is than the original, up to old
	for rest := edits; len(rest) > 0; {
		merged, start, end := rest[0], rest[0].Start, rest[0].End
		if len(old) > 0 && old[0].Start+shift <= start {
			if o := old[0]; o.Start+shift+len(o.With) <= start {
				all, old, shift = append(all, o), old[1:], shift+growth(o)
				continue
			}
			start = old[0].Start + shift
		}
		merged.Start = start - shift
		n := 1 // of the edits that are merged
		for {
			if n < len(rest) && rest[n].Start < end {
				end = max(end, rest[n].End)
				n++
			} else if len(old) > 0 && old[0].Start+shift < end {
				end = max(end, old[0].Start+shift+len(old[0].With))
				old, shift = old[1:], shift+growth(old[0])
			} else {
				break
			}
		}
		merged.End, merged.With = end-shift, replaced(r.text[start:end], start, rest[:n])
		all, rest = append(all, merged), rest[n:]
	}
	r.text, r.edits, r.guard = replaced(r.text, 0, edits), append(all, old...), guard
}

// growth returns how much longer a text is with an edit.
func growth(e aigateway.GuardEdit) int { return len(e.With) - (e.End - e.Start) }

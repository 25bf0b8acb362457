package answer

import (
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// text is the text that is being written: a part of a message or of a summary, or the
// arguments of a call. Its memory is reused for the next one.
type text struct {
	kind   *textKind // nil for none
	part   int       // the number of the part in core events
	lead   []byte    // the beginning of deltas, up to their number
	place  []byte    // the members that identify the text in events
	quoted []byte    // the escaped text, with a quote before it
	start  int       // the characters of texts before this one
	seen   int       // the characters of texts so far
	notes  list
	scores list
}

// textKind contains the constant parts of the texts of a kind, and of their events. The
// last three are empty for a text that is no part of a list.
type textKind struct {
	event  string // the name of its events, up to the last word
	member string // the text in the last of its events
	scored bool   // there are annotations and log probabilities
	part   string // the name of the events about its part, up to the last word
	index  string // the position of its part in events
	head   string // the beginning of its part, up to the text
}

var (
	outputText = textKind{
		event: "response.output_text", member: "text", scored: true,
		part: "response.content_part", index: "content_index", head: `{"type":"output_text","text":`,
	}
	refusalText = textKind{
		event: "response.refusal", member: "refusal",
		part: "response.content_part", index: "content_index", head: `{"type":"refusal","refusal":`,
	}
	summaryText = textKind{
		event: "response.reasoning_summary_text", member: "text",
		part: "response.reasoning_summary_part", index: "summary_index", head: `{"type":"summary_text","text":`,
	}
	functionArguments = textKind{event: "response.function_call_arguments", member: "arguments"}
	freeInput         = textKind{event: "response.custom_tool_call_input", member: "input"}
)

// beginText begins a text of the open item, after the end of the one before, unless that
// one continues.
func (w *itemWriter) beginText(kind *textKind, part int) {
	t := &w.text
	if t.kind == kind && t.part == part {
		return
	}
	w.endText()
	t.kind, t.part, t.start = kind, part, t.seen
	t.quoted = append(t.quoted, '"')
	if !w.events.Context.Stream {
		return
	}
	t.lead = appendHead(t.lead[:0], kind.event+".delta")
	t.place = append(append(append(t.place[:0], `,"item_id":"`...), w.open.id...), `","output_index":`...)
	t.place = strconv.AppendInt(t.place, int64(w.ended.count), 10)
	if kind.part != "" {
		t.place = append(append(append(t.place, `,"`...), kind.index...), `":`...)
		t.place = strconv.AppendInt(t.place, int64(w.open.content.count), 10)
		w.events.write(kind.part+".added", t.place, "part", t.append(nil))
	}
}

// fragment writes a fragment of the open text.
func (w *itemWriter) fragment(fragment []byte) {
	t, events := &w.text, &w.events
	start := len(t.quoted)
	t.quoted = jsonscan.AppendEscaped(t.quoted, fragment)
	if !events.Context.Stream {
		return
	}
	events.Written = events.appendDelta(events.Written, t, t.quoted[start:])
	if t.kind.scored {
		events.scores = len(events.Written) - len("]}\n\n")
	}
}

// annotate writes a source of the open text.
func (w *itemWriter) annotate(s *event.Citation) {
	t := &w.text
	start := t.notes.next(0)
	t.notes.json = t.appendNote(t.notes.json, s)
	place := append(slices.Clip(t.place), `,"annotation_index":`...)
	place = strconv.AppendInt(place, int64(t.notes.count), 10)
	w.events.write("response.output_text.annotation.added", place, "annotation", t.notes.json[start:])
	t.notes.count++
}

// score writes the log probabilities of the preceding text: into its delta, or into a
// delta of their own if that one was already returned by Output. They are compacted,
// since line breaks of a provider would end the data line of an event.
func (w *itemWriter) score(list []byte) {
	scores, events := &w.text.scores, &w.events
	start := scores.next(0)
	scores.json = jsonscan.AppendCompact(scores.json, list[1:len(list)-1])
	if !events.Context.Stream {
		return
	}
	if events.scores == 0 {
		w.fragment(nil)
	}
	events.Written = append(append(events.Written[:events.scores], scores.json[start:]...), "]}\n\n"...)
	events.scores = 0
}

// endText writes the end of the open text, if there is one, and adds the text to the
// content of the item.
func (w *itemWriter) endText() {
	t, content := &w.text, &w.open.content
	kind := t.kind
	if kind == nil {
		return
	}
	start := content.next(t.size() + roomOfItem)
	content.json = t.append(content.json)
	content.count++
	if w.events.Context.Stream {
		w.events.write(kind.event+".done", t.place, kind.member, t.ending())
		if kind.part != "" {
			w.events.write(kind.part+".done", t.place, "part", content.json[start:])
		}
	}
	t.kind, t.quoted, t.notes, t.scores = nil, t.quoted[:0], list{json: t.notes.json[:0]}, list{json: t.scores.json[:0]}
}

// append appends the text as content of its item: its part, or the text alone.
func (t *text) append(dst []byte) []byte {
	dst = append(append(append(dst, t.kind.head...), t.quoted...), '"')
	if t.kind.scored {
		dst = append(append(dst, `,"annotations":[`...), t.notes.json...)
		dst = append(append(append(dst, `],"logprobs":[`...), t.scores.json...), ']')
	}
	if t.kind.part != "" {
		dst = append(dst, '}')
	}
	return dst
}

// ending returns the value of the last event of the text, which the log probabilities
// follow.
func (t *text) ending() []byte {
	value := append(t.quoted, '"')
	if t.kind.scored {
		value = append(append(append(value, `,"logprobs":[`...), t.scores.json...), ']')
	}
	return value
}

// appendNote appends an annotation; its indexes count from the beginning of the text.
func (t *text) appendNote(dst []byte, s *event.Citation) []byte {
	dst = append(dst, `{"type":"url_citation","start_index":`...)
	dst = strconv.AppendInt(dst, int64(max(0, s.Start-t.start)), 10)
	dst = jsonscan.AppendCount(dst, `,"end_index":`, int64(max(0, s.End-t.start)))
	dst = jsonscan.AppendString(append(dst, `,"url":`...), s.URL)
	dst = jsonscan.AppendString(append(dst, `,"title":`...), s.Title)
	return append(dst, '}')
}

// size returns the number of bytes in the memory of the text.
func (t *text) size() int { return len(t.quoted) + len(t.notes.json) + len(t.scores.json) }

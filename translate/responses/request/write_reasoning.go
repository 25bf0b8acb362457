package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Reasoning keeps an item of earlier reasoning until something follows it: providers
// refuse one that led to nothing.
func (w *requestWriter) Reasoning(t *core.Thought) {
	w.endMessage()
	if t.From == core.Encrypted {
		w.appendEncrypted(t)
		return
	}
	if len(t.Text) == 0 {
		return
	}
	buf := append(w.turn.pending, `,{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"`...)
	w.turn.pending = append(append(buf, t.Text...), `"}]}`...)
}

// follow writes the reasoning that leads to what comes next.
func (w *requestWriter) follow() {
	t := &w.turn
	if len(t.pending) == 0 {
		return
	}
	w.items.add(w.x.At, roleAssistant, string(t.pending[1:]))
	t.pending, t.began = t.pending[:0], true
}

// appendEncrypted appends an item as the provider gave it.
func (w *requestWriter) appendEncrypted(t *core.Thought) {
	id, rest, _ := bytes.Cut(t.Encrypted, []byte{'.'})
	lengths, encrypted, _ := bytes.Cut(rest, []byte{'.'})
	lengths, listed := bytes.CutPrefix(lengths, []byte{'t'})
	w.scratch = jsonscan.AppendUnescaped(w.scratch[:0], t.Text)
	buf := append(w.turn.pending, `,{"type":"reasoning"`...)
	if w.x.Traits.ResponsesItemIDs && len(id) > 0 {
		buf = append(append(append(buf, `,"id":"`...), id...), '"')
	}
	if buf = append(buf, `,"summary":[`...); listed {
		buf = appendTexts(append(buf, `],"content":[`...), `{"type":"reasoning_text","text":`, lengths, w.scratch)
	} else {
		buf = appendTexts(buf, `{"type":"summary_text","text":`, lengths, w.scratch)
	}
	buf = jsonscan.AppendString(append(buf, `],"encrypted_content":`...), encrypted)
	w.turn.pending = append(buf, '}')
}

// between separates the texts of an item that become one text.
const between = "\n\n"

// appendTexts appends the parts of a text, each begun by open. A text whose lengths are
// others, because a client changed it, is one part.
func appendTexts(dst []byte, open string, lengths, text []byte) []byte {
	start := len(dst)
	for rest := text; len(rest) > 0; {
		length, others, _ := bytes.Cut(lengths, []byte{','})
		n, err := strconv.Atoi(string(length))
		last := len(others) == 0
		if err != nil || n > len(rest) || last != (n == len(rest)) || !last && !bytes.HasPrefix(rest[n:], []byte(between)) {
			dst = append(jsonscan.AppendString(append(dst[:start], open...), text), '}')
			return dst
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(jsonscan.AppendString(append(dst, open...), rest[:n]), '}')
		if last {
			break
		}
		lengths, rest = others, rest[n+len(between):]
	}
	return dst
}

// writeReasoning asks for as much reasoning as the client wants, and for summaries of
// it. It reports whether it asks for any.
func (w *requestWriter) writeReasoning() (reasons bool) {
	effort, row := w.x.Effort()
	asked := effort != core.Nothing && w.x.KeepAs(effort, row, nil)
	reasons = asked && effort != core.EffortNone || !asked && w.x.Options.Has(core.ReasoningAdaptive) && w.mayReason()
	summary := reasons && !w.x.Traits.NoReasoningSummary && !w.x.Options.Has(core.ReasoningHidden)
	if !asked && !summary {
		return reasons
	}
	w.out.Name("reasoning")
	w.out = append(w.out, '{')
	if asked {
		w.out = append(append(append(w.out, `"effort":"`...), core.EffortOf(effort).String()...), '"')
	}
	if asked && summary {
		w.out = append(w.out, ',')
	}
	if summary {
		w.out = append(w.out, `"summary":"auto"`...)
	}
	w.out = append(w.out, '}')
	return reasons
}

// mayReason reports whether the provider is one that reasons.
func (w *requestWriter) mayReason() bool {
	return w.x.Traits.EffortsOr(trait.EffortAll)&^trait.EffortNone != 0
}

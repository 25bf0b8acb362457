package request

import (
	"bytes"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Reasoning keeps an item of earlier reasoning until something follows it: providers
// refuse one that led to nothing. An encrypted item is as its provider gave it.
func (w *requestWriter) Reasoning(t *core.Thought) {
	w.endMessage()
	buf := w.turn.pending
	if t.Origin != core.Encrypted {
		if len(t.Text) > 0 {
			open := `,{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"`
			if w.x.Traits.ResponsesReasoning == trait.ResponsesReasoningSummary {
				open = `,{"type":"reasoning","summary":[{"type":"summary_text","text":"`
			}
			w.turn.pending = append(append(append(buf, open...), t.Text...), `"}]}`...)
		}
		return
	}
	id, rest, _ := bytes.Cut(t.Encrypted, []byte{'.'})
	lengths, encrypted, _ := bytes.Cut(rest, []byte{'.'})
	lengths, listed := bytes.CutPrefix(lengths, []byte{'t'})
	w.scratch = jsonscan.AppendUnescaped(w.scratch[:0], t.Text)
	buf = append(buf, `,{"type":"reasoning"`...)
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

// separator separates the texts of an item that become one text.
const separator = "\n\n"

// appendTexts appends the parts of a text, each begun by open. A text whose lengths are
// others, because a client changed it, is one part.
func appendTexts(dst []byte, open string, lengths, text []byte) []byte {
	start := len(dst)
	for rest := text; len(rest) > 0; {
		length, others, _ := bytes.Cut(lengths, []byte{','})
		n, err := strconv.Atoi(string(length))
		last := len(others) == 0
		if err != nil || n > len(rest) || last != (n == len(rest)) || !last && !bytes.HasPrefix(rest[n:], []byte(separator)) {
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
		lengths, rest = others, rest[n+len(separator):]
	}
	return dst
}

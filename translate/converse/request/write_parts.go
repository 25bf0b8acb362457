package request

import (
	"encoding/base64"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Reasoning adds reasoning with the bytes that a provider has signed, or that only it can read,
// for the models of the vendor that does so. The service refuses reasoning without a signature,
// and any reasoning for the others.
func (w *writer) Reasoning(t *core.Thought) {
	switch {
	case !w.vendor.signs:
		core.Report(w.x, foreign(w.x, t), core.Hinted)
	case t.Origin == core.Sealed:
		w.scratch = jsonscan.AppendUnescaped(w.scratch[:0], t.Sealed)
		if _, err := base64.StdEncoding.AppendDecode(nil, w.scratch); err != nil {
			core.Report(w.x, core.RedactedReasoning, core.Hinted)
			return
		}
		addPart(w.parts(), `{"reasoningContent":{"redactedContent":"`, t.Sealed, `"}}`)
		w.turn.hidden = true
	case t.IsEncrypted():
		w.x.Keep(core.EncryptedReasoning, nil)
	case seal.IsSelfSigned(t.Text, t.Signature):
		w.x.Keep(core.SelfSignedReasoning, nil)
	case len(t.Signature) == 0:
		core.Report(w.x, core.Reasoning, core.Hinted)
	default:
		b := w.parts()
		addPart(b, `{"reasoningContent":{"reasoningText":{"text":"`, t.Text, `","signature":"`)
		b.Buf = append(append(b.Buf, t.Signature...), `"}}}`...)
		w.turn.hidden = true
	}
}

// foreign returns the concept by which reasoning that is left out is reported.
func foreign(x *core.Translation, t *core.Thought) core.Concept {
	switch {
	case t.Origin == core.Sealed:
		return core.RedactedReasoning
	case !x.From.Rows.Has(core.Reasoning): // of clients that have the reasoning in its signature
		return core.Signature
	}
	return core.Reasoning
}

// addPart adds a part: its beginning, an escaped text, and the bytes behind it.
func addPart(b *parts.Content, first string, text []byte, last string) {
	b.Part(first)
	b.Buf = append(append(b.Buf, text...), last...)
}

// Call adds a call.
func (w *writer) Call(c *core.Call) {
	args := core.InputOf(w.x, c, &w.scratch)
	b := w.parts()
	b.Part(`{"toolUse":{"toolUseId":"`)
	b.Buf = append(appendID(b.Buf, c.ID), `","name":"`...)
	b.Buf = w.tools.names.AppendTo(b.Buf, c.Name)
	w.tools.call(c.Name)
	b.Buf = append(append(append(b.Buf, `","input":`...), args...), `}}`...)
	w.messages.called = true
}

// appendID appends the id of a call in the form that the service accepts, always the same for
// the same escaped id of the client.
func appendID(dst, id []byte) []byte {
	if jsonscan.HasEscapes(id) {
		id = jsonscan.AppendUnescaped(nil, id)
	}
	start := len(dst)
	dst = toolcall.AppendID(dst, id)
	if shown := dst[start:]; len(shown) == 0 || len(shown) > toolcall.MaxID {
		return toolcall.AppendDigest(dst[:start], id)
	}
	return dst
}

// result is the result of a tool that is being written.
type result struct {
	open    bool
	id      []byte // escaped
	content parts.Content
	marked  bool  // a part of the result has a breakpoint of the cache
	mark    point // of the last such part
}

// OpenResult begins the result of a tool.
func (w *writer) OpenResult(r *core.Result) {
	w.result = result{open: true, id: r.ID, content: w.result.content}
	w.result.content.Reset(openText, parts.LineFeed)
	w.result.content.ToArray()
}

// CloseResult ends the result. Models without a status of results read of a failure in the text.
func (w *writer) CloseResult(failed bool) {
	r, c := &w.result, &w.messages
	r.open, w.turn.written, w.turn.result, w.turn.hidden = false, true, true, false
	if c.begin(user, w.x.At); !c.parts.Empty() {
		w.x.Keep(core.TextBeforeResult, nil) // the results come first
	}
	if failed && !w.vendor.statuses {
		r.content.Blame()
	}
	if r.content.Empty() {
		r.content.Add([]byte("[no output]"))
	}
	b := appendID(append(c.results, `,{"toolResult":{"toolUseId":"`...), r.id)
	b = r.content.AppendTo(append(b, `","content":`...))
	if failed && w.vendor.statuses {
		b = append(b, `,"status":"error"`...)
	}
	if c.results = append(b, `}}`...); r.marked {
		c.mark(true, r.mark)
	}
}

// Image adds an image.
func (w *writer) Image(m *core.Media) {
	addPart(w.parts(), `{"image":{"format":"`+formatOf(m)+`","source":{"bytes":"`, m.Data, `"}}}`)
}

// Recording adds a video.
func (w *writer) Recording(m *core.Media) {
	addPart(w.parts(), `{"video":{"format":"`+formatOf(m)+`","source":{"bytes":"`, m.Data, `"}}}`)
}

// formatOf returns the format of an image, a video or a file.
func formatOf(m *core.Media) string {
	switch word := media.Find(m.MediaType, nil).Word; word {
	case "3gp":
		return "three_gp"
	default:
		return word
	}
}

// Document adds a document as a text or a file. The title of a file is a text, since the service
// accepts only some letters in names.
func (w *writer) Document(m *core.Media) {
	if m.Kind == core.PlainText {
		w.addLines(m.Title, m.Context, m.Data)
		return
	}
	w.addLines(m.Title, m.Context)
	had := w.messages.file
	addPart(w.parts(), `{"document":{"format":"`+formatOf(m)+`","name":"`+w.messages.document()+`","source":{"bytes":"`, m.Data, `"}}}`)
	w.messages.file = had || !w.result.open
}

// OpenDocument adds the title and the context of a document whose parts follow.
func (w *writer) OpenDocument(m *core.Media) { w.addLines(m.Title, m.Context) }

// addLines adds the lines that are not empty as one text, if there are any.
func (w *writer) addLines(lines ...[]byte) {
	if slices.ContainsFunc(lines, func(line []byte) bool { return !jsonscan.OnlySpace(line) }) {
		w.parts().AddLines(lines...)
		w.messages.text = w.messages.text || !w.result.open
	}
}

// OpenSearchResult begins a text of several lines: the title, the source, and the texts that
// follow.
func (w *writer) OpenSearchResult(title, source []byte) {
	w.parts().OpenLines(title, source)
	w.inLines = true
}

// CloseSearchResult ends the lines.
func (w *writer) CloseSearchResult() {
	w.parts().CloseLines()
	w.inLines = false
}

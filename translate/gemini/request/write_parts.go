package request

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Reasoning keeps a signature for its part. The model itself remembers the text of its
// reasoning by the signature. Reasoning of other providers is left out.
func (w *writer) Reasoning(t *core.Thought) {
	signature := t.Signature
	switch t.Origin {
	case core.Encrypted:
		signature = jsonscan.AppendEscaped(nil, t.Encrypted)
	case core.Signed:
	default:
		w.x.Keep(core.Reasoning, nil)
		return
	}
	call, isCall := bytes.CutPrefix(signature, []byte(answer.OfCall))
	text, isText := bytes.CutPrefix(signature, []byte(answer.OfText))
	switch {
	case isCall && w.turn.call == nil:
		w.turn.call = call
	case isText && w.turn.text == nil:
		if w.turn.text = text; w.turn.written && w.contents.signText(text) {
			w.turn.text = nil
		}
	default:
		w.x.Keep(core.Reasoning, nil)
	}
}

// signText signs the last text of the turn. Without one, an empty text has the signature, as in
// streams.
func (w *writer) signText() {
	content := w.beside()
	if !w.contents.signText(w.turn.text) {
		content.Part(`{"text":""`)
		content.Buf = append(appendSignature(content.Buf, w.turn.text), '}')
	}
	w.turn.text = nil
}

// Call adds a call.
func (w *writer) Call(c *core.Call) {
	args := core.InputOf(w.x, c, &w.scratch)
	if w.turn.text != nil {
		w.signText() // the text is in front of the call
	}
	content := w.beside()
	content.Part(`{"functionCall":{`)
	content.Buf = append(w.appendID(content.Buf, c.ID), `"name":"`...)
	content.Buf = w.tools.names.AppendTo(content.Buf, c.Name)
	if w.calls == nil {
		w.calls = make(map[string][]byte)
	}
	w.calls[string(c.ID)] = c.Name
	content.Buf = append(append(append(content.Buf, `","args":`...), args...), '}')
	w.contents.endCall(w.signatureOf(c))
	w.turn.call = nil
}

// signatureOf returns the escaped signature of a call: that of the reasoning in front of it,
// that of the call itself, or the one that the gateway remembers. It returns nil for none.
func (w *writer) signatureOf(c *core.Call) []byte {
	switch {
	case w.turn.call != nil:
		return w.turn.call
	case c.Signature != nil || !w.asks.signs():
		return c.Signature
	}
	own, ofCall := bytes.CutPrefix(w.x.Info.Seals.Recall(w.original(c.ID)), []byte(answer.OfCall))
	if !ofCall || len(own) == 0 {
		return nil
	}
	return jsonscan.AppendEscaped(nil, own)
}

// appendID appends the id of a call for the models that repeat ids.
func (w *writer) appendID(dst, id []byte) []byte {
	if !w.asks.signs() || len(id) == 0 {
		return dst
	}
	return append(jsonscan.AppendString(append(dst, `"id":`...), w.original(id)), ',')
}

// original returns the id that the provider gave to a call.
func (w *writer) original(id []byte) []byte {
	w.id = jsonscan.AppendUnescaped(w.id[:0], id)
	shown := len(w.id)
	w.id = toolcall.AppendOriginalID(w.id, w.id)
	return w.id[shown:]
}

// result is the result of a tool that is being written.
type result struct {
	open    bool
	id      []byte // escaped
	name    []byte // of the function, escaped, as the client knows it
	content parts.Content
	media   []byte // each with a comma before it
}

// OpenResult begins the result of a tool, which states the name of the function.
func (w *writer) OpenResult(r *core.Result) {
	name, known := w.calls[string(r.ID)]
	if !known {
		w.x.Fail(fault.InvalidField(w.x.PathOf(core.ToolResult), "answers a tool call that is not in front of it"))
	}
	w.result = result{open: true, id: r.ID, name: name, content: w.result.content, media: w.result.media[:0]}
	w.result.content.Reset(openText, parts.LineFeed)
}

// CloseResult ends the result, whose response is an object.
func (w *writer) CloseResult(failed bool) {
	r, c := &w.result, &w.contents
	r.open, w.turn.written = false, true
	if c.begin(user, w.x.At); !c.parts.Empty() {
		w.x.Keep(core.TextBeforeResult, nil) // the results come first
	}
	b := w.appendID(append(c.results, `,{"functionResponse":{`...), r.id)
	b = append(w.tools.names.AppendTo(append(b, `"name":"`...), r.name), `","response":{"`...)
	key := "output"
	if failed {
		key = "error"
	}
	b = append(append(b, key...), `":`...)
	r.content.Fuse()
	b = append(r.content.AppendTo(b), '}')
	if len(r.media) > 0 {
		b = append(append(append(b, `,"parts":[`...), r.media[1:]...), ']')
	}
	c.results = append(b, `}}`...)
}

// Image adds an image.
func (w *writer) Image(m *core.Media) { w.media(m, core.ImageAddress) }

// Recording adds a sound or a video.
func (w *writer) Recording(m *core.Media) { w.media(m, core.RecordingAddress) }

// Document adds a document as a text or a file.
func (w *writer) Document(m *core.Media) {
	if m.Kind == core.PlainText {
		w.lines(m.Title, m.Context, m.Data)
		return
	}
	w.lines(m.Title, m.Context)
	w.media(m, core.FileAddress)
}

// OpenDocument adds the title and the context of a document whose parts follow.
func (w *writer) OpenDocument(m *core.Media) { w.lines(m.Title, m.Context) }

// lines adds a text of those lines that are not empty. Without one, it begins no content: an
// empty content would separate two contents of one role.
func (w *writer) lines(lines ...[]byte) {
	if slices.ContainsFunc(lines, func(line []byte) bool { return len(line) > 0 }) {
		w.parts().AddLines(lines...)
	}
}

// OpenSearchResult begins a text of several lines: the title, the source, and the texts that
// follow.
func (w *writer) OpenSearchResult(title, source []byte) { w.parts().OpenLines(title, source) }

// CloseSearchResult ends the lines.
func (w *writer) CloseSearchResult() { w.parts().CloseLines() }

// media adds an image or a file. In results, only newer models accept them, and only inline;
// otherwise they follow the results.
func (w *writer) media(m *core.Media, address core.Concept) {
	if w.result.open && w.asks.signs() && m.Kind == core.Inline {
		w.result.media = appendMedia(append(w.result.media, ','), m)
		return
	}
	if m.Kind == core.Address && !w.asks.fetches() {
		w.x.Fail(w.x.Info.Refuse(w.x.To.Format, w.x.PathOf(address), ""))
		return
	}
	content := w.beside()
	content.Part("")
	content.Buf = appendMedia(content.Buf, m)
}

func appendMedia(dst []byte, m *core.Media) []byte {
	if m.Kind == core.Address {
		dst = append(dst, `{"fileData":{`...)
		if kind := media.Find(m.MediaType, m.URL).Name; kind != "" {
			dst = append(append(append(dst, `"mimeType":"`...), kind...), `",`...)
		}
		return append(append(append(dst, `"fileUri":"`...), m.URL...), `"}}`...)
	}
	dst = append(append(dst, `{"inlineData":{"mimeType":"`...), m.MediaType...)
	return append(append(append(dst, `","data":"`...), m.Data...), `"}}`...)
}

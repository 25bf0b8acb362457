package request

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
)

// Target writes messages requests.
var Target = core.Target{Format: translate.Messages, Outcomes: &outcomes, Reserved: trait.ChatOptions, New: func() core.Writer { return new(requestWriter) }}

// requestWriter writes a messages request. It gathers the conversation, the system prompt
// and the tools in buffers, since a body may have its members in any order. The concepts
// that the format cannot express have no method.
type requestWriter struct {
	core.Discard
	x   *core.Translation
	out core.Members

	system   blockBuffer
	messages blockBuffer
	tools    blockBuffer
	names    [][]byte // of the tools, raw

	turn     turnWriter
	result   resultWriter
	marking  *blockBuffer // the buffer with the last block
	unsigned bool         // tools were called without signed thinking since the last text of a user

	scratch []byte
}

// Begin begins a request.
func (w *requestWriter) Begin(x *core.Translation) { w.x = x }

// Forget drops all references to the body.
func (w *requestWriter) Forget() (kept int) {
	clear(w.names)
	*w = requestWriter{
		system: w.system.emptied(), messages: w.messages.emptied(), tools: w.tools.emptied(),
		names: w.names[:0], scratch: w.scratch[:0],
	}
	return cap(w.system.buf) + cap(w.messages.buf) + cap(w.tools.buf) + cap(w.scratch)
}

// Finish appends the request.
func (w *requestWriter) Finish(dst []byte) []byte {
	w.out = dst
	w.x.FanOut(false)
	w.endConversation()
	w.out = append(w.out, `{"model":`...)
	w.out = jsonscan.AppendString(w.out, w.x.Info.Upstream)
	most := int64(math.MaxInt32)
	if !w.x.Info.Counts() {
		most = w.writeMaxTokens()
	}
	w.writeBlocks()
	w.writeChoice()
	thinks := w.writeThinking(most)
	w.writeSampling(thinks)
	w.writeStops()
	if w.x.Answer.Stream {
		w.out.Raw("stream", []byte("true"))
	}
	w.writeUser()
	w.writeTier()
	w.out = append(w.out, w.x.Extensions...)
	return append(w.out, '}')
}

// endConversation ends the conversation. The provider continues a conversation that ends
// with the assistant, and refuses one that ends with white space.
func (w *requestWriter) endConversation() {
	m := &w.messages
	if m.role == "assistant" && !m.endsWith(openCall) {
		w.x.Keep(core.Prefill, nil)
		if m.trim() {
			w.x.Keep(core.PrefillSpace, nil)
		}
	}
	m.close()
	if m.empty() {
		w.x.Invalid(w.x.PathOf(core.Conversation), "must hold at least one message with content that is no system message")
	}
	if w.x.Options.Has(core.FormatObject) {
		w.system.begin("", openText)
		w.system.endText([]byte(core.JSONObjectInstruction))
	}
}

// writeBlocks writes the messages, the system prompt and the tools, with the last
// breakpoints in the order in which a provider reads the request.
func (w *requestWriter) writeBlocks() {
	room := w.writeMarked("messages", &w.messages, maxBreakpoints, core.CachePartsBeyond)
	room = w.writeMarked("system", &w.system, room, core.CachePartsBeyond)
	w.writeMarked("tools", &w.tools, room, core.CacheToolsBeyond)
}

// writeMarked writes a list if it is not empty, with at most room breakpoints, and returns
// the room for further breakpoints.
func (w *requestWriter) writeMarked(name string, b *blockBuffer, room int, beyond core.Concept) int {
	if b.empty() {
		return room
	}
	w.out.Name(name)
	out, used := b.appendTo(append(w.out, '['), room)
	w.out = append(out, ']')
	if b.lost {
		w.x.Keep(beyond, nil)
	}
	return room - used
}

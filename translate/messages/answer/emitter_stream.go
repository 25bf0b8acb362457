package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// streamWriter writes an answer as a stream of events.
type streamWriter struct {
	out   []byte
	delta []byte // the beginning of every delta of the open block
	index int    // of the open block, or of the next one
}

func (w *streamWriter) streams() bool { return true }

// output returns the bytes written since the last call. They are valid until the next
// event.
func (w *streamWriter) output() []byte {
	out := w.out
	w.out = w.out[:0]
	return out
}

func (w *streamWriter) start(h *head) {
	w.out = append(w.out, "event: message_start\n"+`data: {"type":"message_start","message":`...)
	w.out = appendHead(w.out, h)
	w.out = append(w.out, `],"stop_reason":null,"stop_sequence":null,"usage":`...)
	// message_delta omits a count of reasoning that is 0, and clients keep what they have
	// then: a count of message_start that a provider takes back would stay.
	usage := h.usage
	usage.Reasoning = 0
	w.out = AppendUsage(w.out, usage, h.tier)
	w.out = append(w.out, "}}\n\n"...)
}

// begin writes the event that starts a block, up to the block.
func (w *streamWriter) begin() {
	w.out = append(w.out, "event: content_block_start\n"+`data: {"type":"content_block_start","index":`...)
	w.out = strconv.AppendInt(w.out, int64(w.index), 10)
	w.out = append(w.out, `,"content_block":`...)
}

// beginDeltas sets the beginning of the deltas of the block.
func (w *streamWriter) beginDeltas(kind string) {
	w.delta = append(w.delta[:0], "event: content_block_delta\n"+`data: {"type":"content_block_delta","index":`...)
	w.delta = strconv.AppendInt(w.delta, int64(w.index), 10)
	w.delta = append(w.delta, `,"delta":`...)
	w.delta = append(w.delta, kind...)
}

func (w *streamWriter) openText() {
	w.begin()
	w.out = append(w.out, `{"type":"text","text":""}}`+"\n\n"...)
	w.beginDeltas(`{"type":"text_delta","text":"`)
}

func (w *streamWriter) openThinking() {
	w.begin()
	w.out = append(w.out, `{"type":"thinking","thinking":"","signature":""}}`+"\n\n"...)
	w.beginDeltas(`{"type":"thinking_delta","thinking":"`)
}

func (w *streamWriter) openTool(id, name []byte) {
	w.begin()
	w.out = appendToolHead(w.out, id, name)
	w.out = append(w.out, "{}}}\n\n"...)
	w.beginDeltas(`{"type":"input_json_delta","partial_json":"`)
}

func (w *streamWriter) text(fragment []byte)     { w.fragment(fragment) }
func (w *streamWriter) thinking(fragment []byte) { w.fragment(fragment) }
func (w *streamWriter) input(fragment []byte)    { w.fragment(fragment) }

// signature writes the signature, which usually is the last delta of its block; thinking
// may follow.
func (w *streamWriter) signature(whole []byte) {
	w.beginDeltas(`{"type":"signature_delta","signature":"`)
	w.fragment(whole)
	w.beginDeltas(`{"type":"thinking_delta","thinking":"`)
}

func (w *streamWriter) fragment(fragment []byte) {
	w.out = append(w.out, w.delta...)
	w.out = jsonscan.AppendEscaped(w.out, fragment)
	w.out = append(w.out, "\"}}\n\n"...)
}

func (w *streamWriter) redacted(data []byte) {
	w.begin()
	w.out = appendRedacted(w.out, data)
	w.out = append(w.out, "}\n\n"...)
	w.close()
}

func (w *streamWriter) close() {
	w.out = append(w.out, "event: content_block_stop\n"+`data: {"type":"content_block_stop","index":`...)
	w.out = strconv.AppendInt(w.out, int64(w.index), 10)
	w.out = append(w.out, "}\n\n"...)
	w.index++
}

func (w *streamWriter) end(t *tail) {
	w.out = append(w.out, "event: message_delta\n"+`data: {"type":"message_delta","delta":{`...)
	w.out = appendStop(w.out, t)
	w.out = append(w.out, `},"usage":`...)
	w.out = AppendUsage(w.out, t.usage, t.tier)
	w.out = append(w.out, "}\n\nevent: message_stop\n"+`data: {"type":"message_stop"}`+"\n\n"...)
}

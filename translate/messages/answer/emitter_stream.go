package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// streamWriter writes an answer as a stream of events.
type streamWriter struct {
	out   []byte
	delta []byte // how every delta of the open block begins
	index int    // of the open block, or of the next one
}

func (w *streamWriter) streams() bool { return true }

// output hands over what was written. Its memory is written to again with the
// next event.
func (w *streamWriter) output() []byte {
	out := w.out
	w.out = w.out[:0]
	return out
}

func (w *streamWriter) start(h *head) {
	w.out = append(w.out, "event: message_start\n"+`data: {"type":"message_start","message":`...)
	w.out = appendHead(w.out, h)
	w.out = append(w.out, `],"stop_reason":null,"stop_sequence":null,"usage":`...)
	w.out = AppendUsage(w.out, h.usage, h.tier)
	w.out = append(w.out, "}}\n\n"...)
}

// begin writes the start of a block up to its members.
func (w *streamWriter) begin() {
	w.out = append(w.out, "event: content_block_start\n"+`data: {"type":"content_block_start","index":`...)
	w.out = strconv.AppendInt(w.out, int64(w.index), 10)
	w.out = append(w.out, `,"content_block":`...)
}

// deltas says how the deltas of the block begin.
func (w *streamWriter) deltas(kind string) {
	w.delta = append(w.delta[:0], "event: content_block_delta\n"+`data: {"type":"content_block_delta","index":`...)
	w.delta = strconv.AppendInt(w.delta, int64(w.index), 10)
	w.delta = append(w.delta, `,"delta":`...)
	w.delta = append(w.delta, kind...)
}

func (w *streamWriter) openText() {
	w.begin()
	w.out = append(w.out, `{"type":"text","text":""}}`+"\n\n"...)
	w.deltas(`{"type":"text_delta","text":"`)
}

func (w *streamWriter) openThinking() {
	w.begin()
	w.out = append(w.out, `{"type":"thinking","thinking":"","signature":""}}`+"\n\n"...)
	w.deltas(`{"type":"thinking_delta","thinking":"`)
}

func (w *streamWriter) openTool(id, name []byte) {
	w.begin()
	w.out = appendToolHead(w.out, id, name)
	w.out = append(w.out, "{}}}\n\n"...)
	w.deltas(`{"type":"input_json_delta","partial_json":"`)
}

func (w *streamWriter) text(fragment []byte)     { w.fragment(fragment) }
func (w *streamWriter) thinking(fragment []byte) { w.fragment(fragment) }
func (w *streamWriter) input(fragment []byte)    { w.fragment(fragment) }

// signature is the last delta of its block, as a rule; thinking may follow.
func (w *streamWriter) signature(whole []byte) {
	w.deltas(`{"type":"signature_delta","signature":"`)
	w.fragment(whole)
	w.deltas(`{"type":"thinking_delta","thinking":"`)
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

package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/turn"
)

// writer writes an answer as a stream of events or as one JSON body. Its methods are
// called in the order of the format: start first, every block closed before the next, end
// last.
type writer struct {
	*turn.Emitter           // whose Out it writes
	index         int       // of the open block, or of the next one
	kind          blockKind // of the open block
	sealed        []byte    // the signature of the open block, which a JSON body has at its end
}

// shapes contains the constant parts of the blocks that deltas fill.
var shapes = [...]struct {
	head  string // of a block without further members
	fill  string // the members that deltas fill, at the beginning of a stream's block
	open  string // of a JSON body: up to the content
	shut  string // of a JSON body: what follows the content
	delta string // up to the fragment
}{
	textBlock:     {`{"type":"text"`, `,"text":""`, `,"text":"`, `"`, `{"type":"text_delta","text":"`},
	thinkingBlock: {`{"type":"thinking"`, `,"thinking":"","signature":""`, `,"thinking":"`, `"`, `{"type":"thinking_delta","thinking":"`},
	toolUseBlock:  {``, `,"input":{}`, `,"input":`, ``, `{"type":"input_json_delta","partial_json":"`},
}

// event writes an event of a stream. members follow its type.
func (w *writer) event(name string, members ...string) {
	w.Out = append(append(w.Out, "event: "...), name...)
	w.Out = append(append(append(w.Out, "\ndata: {\"type\":\""...), name...), '"')
	for _, member := range members {
		w.Out = append(w.Out, member...)
	}
	w.Out = append(w.Out, "}\n\n"...)
}

// blockEvent writes an event about the open block. members follow its index.
func (w *writer) blockEvent(name, members string) {
	w.event(name, `,"index":`, strconv.Itoa(w.index), members)
}

// start writes the beginning of an answer. members are those of the message up to its
// content.
func (w *writer) start(members []byte, usage token.Usage, tier event.Tier) {
	if !w.Context.Stream {
		w.Out = append(append(append(w.Out, '{'), members...), `,"content":[`...)
		return
	}
	// All output is counted as answer here, since clients would keep a count of reasoning that
	// message_delta omits because it has become 0.
	usage.Answer, usage.Reasoning = usage.Output(), 0
	w.event("message_start", `,"message":{`, string(members), `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`,
		string(AppendUsage(nil, usage, tier)), "}")
}

// begin writes the beginning of a block. block is the whole object in the event of a stream.
func (w *writer) begin(block string, s turn.Shape) {
	if w.Context.Stream {
		w.blockEvent("content_block_start", `,"content_block":`+block)
	}
	w.Open(s)
}

// block writes a block that has no deltas.
func (w *writer) block(whole []byte) {
	w.begin(string(whole), turn.Shape{Head: string(whole)})
	w.endBlock()
}

// open writes the beginning of a block. head contains its members up to its content.
func (w *writer) open(kind blockKind, head string) {
	w.kind, w.sealed = kind, w.sealed[:0]
	s := &shapes[kind]
	w.begin(head+s.fill+"}", turn.Shape{
		Head: head + s.open, Tail: s.shut, Event: w.delta(s.delta), Close: deltaEnd, Raw: kind == toolUseBlock,
	})
}

// delta returns the beginning of a delta of the open block.
func (w *writer) delta(kind string) string {
	return "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":` + strconv.Itoa(w.index) + `,"delta":` + kind
}

const deltaEnd = "\"}}\n\n"

// sign writes the signature, which usually is the last delta of its block; thinking may
// follow.
func (w *writer) sign(signature []byte) {
	if !w.Context.Stream {
		w.sealed = append(w.sealed[:0], signature...)
		return
	}
	w.Out = append(w.Out, w.delta(`{"type":"signature_delta","signature":"`)...)
	w.Out = append(jsonscan.AppendEscaped(w.Out, signature), deltaEnd...)
}

// close writes the end of the open block.
func (w *writer) close() {
	w.Shut()
	if !w.Context.Stream {
		if w.kind == thinkingBlock {
			w.Out = jsonscan.AppendString(append(w.Out, `,"signature":`...), w.sealed)
		}
		w.Out = append(w.Out, '}')
	}
	w.endBlock()
}

// endBlock ends a block, once its content is written.
func (w *writer) endBlock() {
	w.Shut()
	if w.Context.Stream {
		w.blockEvent("content_block_stop", "")
	}
	w.index++
}

// end writes the reason why the turn ended, the usage, and the end.
func (w *writer) end(reason string, e *turn.Ending) {
	stop := append([]byte(`"stop_reason":"`), reason...)
	stop = append(appendOptional(append(stop, `","stop_sequence":`...), e.Stop), `,"stop_details":`...)
	if e.Reason == event.FinishFiltered || e.Reason == event.FinishRefused {
		stop = append(stop, `{"type":"refusal","category":null,"explanation":`...)
		stop = append(appendOptional(stop, e.Explanation), '}')
	} else {
		stop = append(stop, "null"...)
	}
	usage := AppendUsage([]byte(`,"usage":`), e.Usage, e.Tier)
	if w.Context.Stream {
		w.event("message_delta", `,"delta":{`, string(stop), "}", string(usage))
		w.event("message_stop")
		return
	}
	w.Out = append(append(append(append(w.Out, "],"...), stop...), usage...), '}')
}

func appendOptional(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, "null"...)
	}
	return jsonscan.AppendString(dst, text)
}

package answer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// answerWriter writes an answer as one JSON body.
type answerWriter struct {
	out    []byte
	sealed []byte    // the signature of the open thinking block
	open   blockKind // unknownBlock between blocks
	blocks int
	whole  bool
}

func (w *answerWriter) streams() bool { return false }

// output returns the whole body, once.
func (w *answerWriter) output() []byte {
	if !w.whole {
		return nil
	}
	out := w.out
	w.out = nil
	return out
}

func (w *answerWriter) start(h *head) { w.out = appendHead(w.out, h) }

func (w *answerWriter) begin(kind blockKind, members string) {
	if w.blocks > 0 {
		w.out = append(w.out, ',')
	}
	w.blocks++
	w.open = kind
	w.out = append(w.out, members...)
}

func (w *answerWriter) openText() { w.begin(textBlock, `{"type":"text","text":"`) }

func (w *answerWriter) openThinking() {
	w.begin(thinkingBlock, `{"type":"thinking","thinking":"`)
	w.sealed = w.sealed[:0]
}

func (w *answerWriter) openTool(id, name []byte) {
	w.begin(toolUseBlock, "")
	w.out = appendToolHead(w.out, id, name)
}

func (w *answerWriter) text(fragment []byte)     { w.out = jsonscan.AppendEscaped(w.out, fragment) }
func (w *answerWriter) thinking(fragment []byte) { w.out = jsonscan.AppendEscaped(w.out, fragment) }
func (w *answerWriter) input(whole []byte)       { w.out = append(w.out, whole...) }
func (w *answerWriter) signature(whole []byte)   { w.sealed = append(w.sealed[:0], whole...) }

func (w *answerWriter) redacted(data []byte) {
	w.begin(redactedThinkingBlock, "")
	w.out = appendRedacted(w.out, data)
	w.open = unknownBlock
}

func (w *answerWriter) close() {
	switch w.open {
	case textBlock:
		w.out = append(w.out, `"}`...)
	case thinkingBlock:
		w.out = append(w.out, `","signature":`...)
		w.out = jsonscan.AppendString(w.out, w.sealed)
		w.out = append(w.out, '}')
	case toolUseBlock:
		w.out = append(w.out, '}')
	}
	w.open = unknownBlock
}

func (w *answerWriter) end(t *tail) {
	w.out = append(w.out, "],"...)
	w.out = appendStop(w.out, t)
	w.out = append(w.out, `,"usage":`...)
	w.out = AppendUsage(w.out, t.usage, t.tier)
	w.out = append(w.out, '}')
	w.whole = true
}

// appendHead appends the message up to its content.
func appendHead(dst []byte, h *head) []byte {
	dst = append(dst, `{"id":`...)
	dst = jsonscan.AppendString(dst, h.id)
	dst = append(dst, `,"type":"message","role":"assistant","model":`...)
	dst = jsonscan.AppendString(dst, h.model)
	return append(dst, `,"content":[`...)
}

// appendToolHead appends a tool_use block up to its input.
func appendToolHead(dst, id, name []byte) []byte {
	dst = append(dst, `{"type":"tool_use","id":`...)
	dst = jsonscan.AppendString(dst, id)
	dst = append(dst, `,"name":`...)
	dst = jsonscan.AppendString(dst, name)
	return append(dst, `,"input":`...)
}

func appendRedacted(dst, data []byte) []byte {
	dst = append(dst, `{"type":"redacted_thinking","data":`...)
	dst = jsonscan.AppendString(dst, data)
	return append(dst, '}')
}

// appendStop appends the members with the reason why the turn ended.
func appendStop(dst []byte, t *tail) []byte {
	dst = append(dst, `"stop_reason":"`...)
	dst = append(dst, t.reason...)
	dst = append(dst, `","stop_sequence":`...)
	dst = appendOptional(dst, t.stop)
	dst = append(dst, `,"stop_details":`...)
	if !t.refused {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"type":"refusal","category":null,"explanation":`...)
	dst = appendOptional(dst, t.explanation)
	return append(dst, '}')
}

func appendOptional(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, "null"...)
	}
	return jsonscan.AppendString(dst, text)
}

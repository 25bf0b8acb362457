package request

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
)

// resultWriter is the result of a tool that is being written: empty, one text, or an
// array of blocks.
type resultWriter struct {
	open  bool
	start int // the beginning of the block
	text  int // the beginning of the text, 0 for none
	array bool
}

const openResult = `{"type":"tool_result","tool_use_id":"`

// OpenResult begins the result of a tool.
func (w *requestWriter) OpenResult(r *core.Result) {
	m := &w.messages
	m.begin("user", openResult)
	w.result = resultWriter{open: true, start: len(m.buf) - len(openResult)}
	m.buf = append(appendID(m.buf, r.ID), '"')
}

// CloseResult ends the result. Successive results and the texts of the user between and
// behind them share one message, which must begin with the results.
func (w *requestWriter) CloseResult(failed bool) {
	m := &w.messages
	w.result.open = false
	if w.result.array {
		m.buf = append(m.buf, ']')
	}
	if failed {
		m.buf = append(m.buf, `,"is_error":true`...)
	}
	if m.buf = append(m.buf, '}'); !w.x.Failed() && m.lead(w.result.start) {
		w.x.Keep(core.TextBeforeResult, nil)
	}
}

// setText makes a text the content of the result. It returns false if the result has
// content already.
func (r *resultWriter) setText(m *blockBuffer, text []byte) bool {
	if r.text > 0 || r.array {
		return false
	}
	m.buf = append(m.buf, `,"content":`...)
	r.text = len(m.buf)
	m.buf = append(append(append(m.buf, '"'), text...), '"')
	return true
}

// toArray begins the array of the result's blocks, with the text if there is one.
func (r *resultWriter) toArray(m *blockBuffer) {
	switch {
	case r.array:
		return
	case r.text == 0:
		m.buf = append(m.buf, `,"content":[`...)
	default:
		text := bytes.Clone(m.buf[r.text+len(`"`):])
		m.buf = append(append(m.buf[:r.text], "["+openText...), text...)
		m.buf = append(m.buf, '}')
	}
	r.array = true
}

package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tool adds a tool. For strict, which is false by default in other formats, the format
// has the default true, so it is always written.
func (w *requestWriter) Tool(t *core.Tool) {
	w.names.Add(w.x, t)
	buf := append(w.tools, `,{"type":"`...)
	if t.Free {
		buf = append(buf, `custom","name":"`...)
	} else {
		buf = append(buf, `function","name":"`...)
	}
	buf = append(w.names.AppendTo(buf, jsonscan.Inner(t.Name)), '"')
	if t.Description != nil {
		buf = append(append(buf, `,"description":`...), t.Description...)
	}
	switch {
	case !t.Free:
		buf = appendFunction(buf, t)
	case t.Syntax != nil:
		buf = append(append(buf, `,"format":{"type":"grammar","syntax":`...), t.Syntax...)
		buf = append(append(append(buf, `,"definition":`...), t.Definition...), '}')
	}
	w.tools = append(buf, '}')
}

// appendFunction appends what only functions have.
func appendFunction(dst []byte, t *core.Tool) []byte {
	dst = append(dst, `,"parameters":`...)
	if t.Schema == nil {
		dst = append(dst, `{"type":"object","properties":{}}`...)
	} else {
		dst = core.AppendSchema(dst, t.Schema)
	}
	if t.Strict == nil {
		return append(dst, `,"strict":false`...)
	}
	return append(append(dst, `,"strict":`...), t.Strict...)
}

// appendNamed appends the choice of one tool.
func appendNamed(dst []byte, kind string, name []byte) []byte {
	dst = append(dst, `{"type":"`+kind+`","name":"`...)
	return append(append(dst, name...), `"}`...)
}

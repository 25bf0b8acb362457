package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Tool adds a tool.
func (w *writer) Tool(t *core.Tool) {
	w.names.Add(w.x, t)
	if t.Free {
		w.tools = w.appendCustom(w.tools, t)
		return
	}
	buf := append(w.tools, `,{"type":"function","function":{"name":"`...)
	buf = w.names.AppendTo(buf, jsonscan.Inner(t.Name))
	buf = append(buf, '"')
	if t.Description != nil {
		buf = append(append(buf, `,"description":`...), t.Description...)
	}
	if t.Schema != nil {
		buf = core.AppendSchema(append(buf, `,"parameters":`...), t.Schema)
	}
	if t.Strict != nil {
		buf = append(append(buf, `,"strict":`...), t.Strict...)
	}
	w.tools = append(buf, `}}`...)
}

// appendCustom appends a tool that takes a free text.
func (w *writer) appendCustom(dst []byte, t *core.Tool) []byte {
	dst = append(dst, `,{"type":"custom","custom":{"name":"`...)
	dst = append(w.names.AppendTo(dst, jsonscan.Inner(t.Name)), '"')
	if t.Description != nil {
		dst = append(append(dst, `,"description":`...), t.Description...)
	}
	if t.Syntax != nil {
		dst = append(append(dst, `,"format":{"type":"grammar","grammar":{"syntax":`...), t.Syntax...)
		dst = append(append(append(dst, `,"definition":`...), t.Definition...), "}}"...)
	}
	return append(dst, `}}`...)
}

// appendNamed appends the choice of one tool.
func appendNamed(dst []byte, kind string, name []byte) []byte {
	dst = append(dst, `{"type":"`+kind+`","`+kind+`":{"name":"`...)
	return append(append(dst, name...), `"}}`...)
}

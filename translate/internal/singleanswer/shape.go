package singleanswer

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Shape is how an item whose content comes in fragments is written.
type Shape struct {
	Head, Tail   string // around all fragments, in a JSON answer
	Event, Close string // around one fragment, in an event of a stream
	Raw          bool   // the fragments are JSON, and not parts of a string
}

// openItem is the item that is being written.
type openItem struct {
	Shape     // the zero Shape for none
	count int // of items that were begun
}

// Open begins an item, and closes the open one unless it has the same shape.
func (m *Emitter) Open(s Shape) {
	if m.open.Shape == s {
		return
	}
	m.Shut()
	m.open.Shape = s
	m.open.count++
	if m.Context.Stream {
		return
	}
	if m.open.count > 1 {
		m.Written = append(m.Written, ',')
	}
	m.Written = append(m.Written, s.Head...)
}

// Fragment writes a fragment of the open item.
func (m *Emitter) Fragment(text []byte) {
	switch {
	case m.Context.Stream:
		m.Written = append(m.Written, m.open.Shape.Event...)
		m.Written = append(jsonscan.AppendEscaped(m.Written, text), m.open.Shape.Close...)
	case m.open.Shape.Raw:
		m.Written = append(m.Written, text...)
	default:
		m.Written = jsonscan.AppendEscaped(m.Written, text)
	}
}

// Shut closes the open item, if there is one.
func (m *Emitter) Shut() {
	if m.open.Shape != (Shape{}) && !m.Context.Stream {
		m.Written = append(m.Written, m.open.Shape.Tail...)
	}
	m.open.Shape = Shape{}
}

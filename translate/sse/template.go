package sse

import "github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"

// Template recognises the deltas of a stream: most of them differ from the one before only
// in a text, and in a number and padding that mean nothing. They need not be read again: a
// delta of the same shape means the same with another text. The zero Template recognises
// nothing.
type Template struct {
	name    string // of the deltas
	head    string // what AppendEvent writes before their data
	shape   jsonscan.Template
	learned uint // shapes in a row that no delta had
}

// patience is the number of shapes in a row that are learned though no delta has them. Of a
// stream whose deltas all have shapes of their own, every patience-th is learned: comparing
// each delta with the one before would only cost time.
const patience = 16

// Learn makes the Template recognise deltas like this one. text is the position of its text,
// others those of values that may differ too; zero Slots are ignored. Without a text, the
// Template recognises nothing.
func (t *Template) Learn(delta Event, text jsonscan.Slot, others ...jsonscan.Slot) {
	t.Forget()
	if text == (jsonscan.Slot{}) {
		return
	}
	if t.learned++; t.learned > patience && t.learned%patience != 0 {
		return
	}
	slots := [jsonscan.MaxHoles]jsonscan.Slot{text}
	copy(slots[1:], others)
	if t.head == "" || string(delta.Name) != t.name {
		t.name, t.head = headOf(delta.Name)
	}
	t.shape.Learn(delta.Data, slots)
}

// Match returns the text of a delta with that name and data that has the shape of the one
// learned last, and the third of the values that may differ, raw, nil for none. ok is false
// for a delta of another shape, and for one whose text is empty.
func (t *Template) Match(name, data []byte) (text jsonscan.Value, third []byte, ok bool) {
	values, ok := t.shape.Match(data)
	if !ok || len(values[0].Raw) <= len(`""`) || string(name) != t.name {
		return text, nil, false
	}
	t.learned = 0
	return values[0], values[2].Raw, true
}

// Next returns the text of the next event of a lexer, which passes over the event, if
// Match would recognise it. It takes a third of the time of both. ok is also false for an
// event that is not as AppendEvent writes it, or is not whole.
func (t *Template) Next(l *Lexer) (text jsonscan.Value, ok bool) {
	ahead := l.ahead()
	if !begins(ahead, t.head) {
		return text, false
	}
	rest := ahead[len(t.head):]
	values, size := t.shape.MatchLine(rest)
	if len(values[0].Raw) <= len(`""`) || !begins(rest[size:], blankLine) {
		return text, false
	}
	l.skip(len(ahead) - len(rest[size:]) + len(blankLine))
	t.learned = 0
	return values[0], true
}

// Forget makes the Template recognise nothing.
func (t *Template) Forget() { t.shape.Forget() }

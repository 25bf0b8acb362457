package texts

import (
	"bytes"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Kind is what a text is in its conversation.
type Kind uint8

// The kinds.
const (
	Other     Kind = iota // outside of the conversation, such as metadata
	System                // instructions
	User                  // of the user, and of documents
	Assistant             // of the model
	Result                // of a tool
	Call                  // the arguments of a call, as JSON or as a free text
	Tool                  // a declared tool: its description, its schema
	Server                // an MCP server that the provider calls: no text
	Reasoning             // of the model, in an answer
)

// Text is a text of a request or of a JSON answer.
type Text struct {
	Kind Kind
	Name string // of the tool of a Call or a Tool, the address of a Server; else ""
	// Group is the same for texts that the model reads as one, such as the parts of a turn.
	Group int
	Text  string

	slot jsonscan.Slot // of the value in the body; the zero Slot for none
	form form
}

// form is how a text is in its body.
type form uint8

const (
	literal form = iota // it cannot be changed: a number, a part of a form
	fixed               // a string that cannot be changed: the name of a member
	plain               // a string
	object              // JSON
	encoded             // a string that contains JSON
	signed              // a string of which a provider has a signature
)

// Signed reports whether a provider has signed the text, so that Put does not change it.
func (t *Text) Signed() bool { return t.form == signed }

// Put returns the edit of the body by which another text takes the place of t. ok is false if t
// cannot be changed, or if its JSON would be invalid.
func (t *Text) Put(text string) (e edit.Edit, ok bool) {
	e.Span = translate.Span{Start: t.slot.Start, End: t.slot.End}
	switch t.form {
	case plain:
		e.With = jsonscan.AppendString(nil, text)
	case object:
		e.With = []byte(text)
		return e, isJSON(e.With)
	case encoded:
		e.With = jsonscan.AppendString(nil, text)
		return e, isJSON([]byte(text))
	default:
		return e, false
	}
	return e, true
}

// isJSON reports whether a text is one value of JSON.
func isJSON(text []byte) bool {
	c := jsonscan.New(text)
	c.Skip()
	return c.Finish() == nil
}

// read returns the words of a value. A string that contains no JSON is plain.
func (t *Text) read(raw []byte) string {
	switch t.form {
	case object:
		return string(unescaped(raw))
	case encoded:
		text := jsonscan.AppendText(nil, raw)
		if isJSON(text) {
			text = unescaped(text)
		} else {
			t.form = plain
		}
		return string(text)
	case literal:
		return string(spelledOut(raw))
	default:
		return string(jsonscan.AppendText(nil, raw))
	}
}

// Unescaped returns JSON whose strings have no escapes but those that JSON requires, and whose long
// numbers are spelled out, as the texts of calls in requests. A text that is no JSON stays the same.
func Unescaped(text string) string {
	if !strings.ContainsAny(text, escapes) || !isJSON([]byte(text)) {
		return text
	}
	return string(unescaped([]byte(text)))
}

// escapes are the characters of JSON that has more than one form.
const escapes = `\.eE`

// unescaped returns valid JSON whose strings have no escapes but those that JSON requires, and
// whose long numbers are spelled out, so that each text in it can be found in only one form.
func unescaped(raw []byte) []byte {
	if !bytes.ContainsAny(raw, escapes) {
		return raw
	}
	plain := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		start := bytes.IndexByte(raw, '"')
		if start < 0 {
			break
		}
		c := jsonscan.Again(raw[start:])
		text := c.Skip()
		plain = appendSpelledOut(plain, raw[:start])
		plain = jsonscan.AppendString(plain, jsonscan.AppendText(nil, text))
		raw = raw[start+len(text):]
	}
	return appendSpelledOut(plain, raw)
}

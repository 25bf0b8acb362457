package toolcall

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Arguments follows the arguments of a tool call that arrive in fragments. It detects
// the end of a JSON object, array or string by counting brackets and quotes. The zero
// value is ready to use.
type Arguments struct {
	first   byte // the first byte that is not white space, 0 before it
	depth   int  // open brackets
	quoted  bool
	escaped bool
	closed  bool // the value has ended
	broken  bool // more than white space followed its end
}

// Add reads the next fragment.
func (a *Arguments) Add(fragment []byte) {
	for _, b := range fragment {
		switch {
		case a.quoted:
			a.inString(b)
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		case a.closed:
			a.broken = true
		default:
			a.token(b)
		}
	}
}

func (a *Arguments) inString(b byte) {
	switch {
	case a.escaped:
		a.escaped = false
	case b == '\\':
		a.escaped = true
	case b == '"':
		a.quoted = false
		a.closed = a.depth == 0
	}
}

func (a *Arguments) token(b byte) {
	if a.first == 0 {
		a.first = b
	}
	switch b {
	case '"':
		a.quoted = true
	case '{', '[':
		a.depth++
	case '}', ']':
		a.depth--
		a.closed = a.depth <= 0
	}
}

// IsObject reports whether the arguments begin as an object.
func (a *Arguments) IsObject() bool { return a.first == '{' }

// Complete reports whether the arguments have ended. A number or a literal never has,
// since it may continue.
func (a *Arguments) Complete() bool { return a.closed && !a.broken }

// Open reports whether the arguments have begun with a bracket or a quote that is not
// closed yet.
func (a *Arguments) Open() bool { return a.quoted || a.depth > 0 }

// AppendArguments appends the arguments of a tool call as the object that the messages
// format requires (wire format C.6). A text that is no object is wrapped in one, so
// that nothing is lost and a check against the schema of the tool fails visibly. cut
// is true if the token limit cut the text off.
func AppendArguments(dst, text []byte, cut bool) []byte {
	if object, ok := Object(text); ok {
		return append(dst, object...)
	}
	value := wholeValue(text)
	switch {
	case value == nil && cut:
		return append(dst, "{}"...)
	case value == nil:
		return wrap(dst, `{"_invalid_arguments":`, jsonscan.AppendString(nil, text))
	}
	return wrap(dst, `{"_arguments":`, value)
}

// Object returns the arguments of a tool call as an object: the text itself, its
// content if a server has encoded it twice, or an empty object if there are no
// arguments. ok is false if the text is none of these.
func Object(text []byte) (object []byte, ok bool) {
	value := wholeValue(text)
	if len(bytes.TrimSpace(text)) == 0 || string(value) == "null" {
		return []byte("{}"), true
	}
	if len(value) > 0 && value[0] == '"' {
		value = wholeValue(jsonscan.AppendText(nil, value))
	}
	return value, len(value) > 0 && value[0] == '{'
}

func wrap(dst []byte, head string, value []byte) []byte {
	dst = append(dst, head...)
	dst = append(dst, value...)
	return append(dst, '}')
}

// wholeValue returns the text without the white space around it if it is one JSON
// value, else nil.
func wholeValue(text []byte) []byte {
	text = bytes.TrimSpace(text)
	c := jsonscan.New(text)
	value := c.Skip()
	if c.Finish() != nil {
		return nil
	}
	return value
}

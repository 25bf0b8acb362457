package translate

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Arguments follows the arguments of a tool call while they come in fragments,
// and knows when they may be complete: when they are one JSON object, array or
// string by the count of their brackets and quotes. The zero value has seen
// nothing yet.
type Arguments struct {
	first   byte // the first byte that is no space, 0 before it
	depth   int  // open brackets
	quoted  bool
	escaped bool
	closed  bool // the value has ended
	broken  bool // more than space came behind its end
}

// Add takes in the next fragment.
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

// IsObject reports whether the arguments begin like the object that they ought
// to be.
func (a *Arguments) IsObject() bool { return a.first == '{' }

// Complete reports whether the arguments have ended. A number or a literal may
// always go on.
func (a *Arguments) Complete() bool { return a.closed && !a.broken }

// AppendArguments appends the arguments of a tool call as the object that the
// messages format wants (wire format C.6). What is no object is wrapped, so that
// nothing is lost and a check against the tool's schema fails visibly; cut says
// that the token limit cut them off.
func AppendArguments(dst, text []byte, cut bool) []byte {
	value := wholeValue(text)
	switch {
	case len(bytes.TrimSpace(text)) == 0, string(value) == "null":
		return append(dst, "{}"...)
	case value == nil && cut:
		return append(dst, "{}"...)
	case value == nil:
		return wrap(dst, `{"_invalid_arguments":`, jsonscan.AppendString(nil, text))
	case value[0] == '{':
		return append(dst, value...)
	}
	if value[0] == '"' {
		if inner := wholeValue(jsonscan.AppendText(nil, value)); len(inner) > 0 && inner[0] == '{' {
			return append(dst, inner...)
		}
	}
	return wrap(dst, `{"_arguments":`, value)
}

func wrap(dst []byte, before string, value []byte) []byte {
	dst = append(dst, before...)
	dst = append(dst, value...)
	return append(dst, '}')
}

// wholeValue returns the JSON value that the text is, without the space around
// it; nil if it is none.
func wholeValue(text []byte) []byte {
	text = bytes.TrimSpace(text)
	c := jsonscan.New(text)
	value := c.Skip()
	if c.Finish() != nil {
		return nil
	}
	return value
}

package request

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/parts"
)

// contents are the contents of a request, each with a comma before it. The last one is open,
// since the next turn may have its role.
type contents struct {
	buf []byte
	// unsigned lists the positions behind the first calls of the contents of the current turn
	// that have no signature.
	unsigned []int

	// The last content.
	place   core.Place // of the client's turn
	role    string     // "" for none
	results []byte     // each with a comma before it
	parts   parts.Content
	text    int  // the length of parts behind their last text, 0 if that is not the end
	called  bool // the content has a call
	bare    int  // the position in parts behind the first call if that has no signature, else 0
}

func (c *contents) reset() {
	*c = contents{buf: c.buf[:0], unsigned: c.unsigned[:0], results: c.results[:0], parts: c.parts}
	c.parts.Reset(openText, parts.LineFeed)
	c.parts.ToArray()
}

func (c *contents) forget() (kept int) {
	return c.parts.Forget() + cap(c.buf) + cap(c.results)
}

// of returns the parts of the open content, which has the role.
func (c *contents) of(role string, place core.Place) *parts.Content {
	c.begin(role, place)
	return &c.parts
}

// begin begins a content unless the open one has the role.
func (c *contents) begin(role string, place core.Place) {
	if c.place = place; c.role == role {
		return
	}
	c.close()
	c.role, c.called, c.bare, c.text, c.results = role, false, 0, 0, c.results[:0]
	c.parts.Reset(openText, parts.LineFeed)
	c.parts.ToArray()
}

// lostBeginning is the content in front of a conversation that begins with the model, which
// services refuse.
const lostBeginning = `,{"role":"user","parts":[{"text":"[The beginning of the conversation was left out.]"}]}`

// close ends the open content. A turn of the user that has more than results is the beginning
// of the current turn. The results come first.
func (c *contents) close() {
	if c.role == "" || len(c.results) == 0 && c.parts.Empty() {
		return
	}
	if c.role == model && len(c.buf) == 0 {
		c.buf = append(c.buf, lostBeginning...)
	}
	c.buf = append(append(append(c.buf, `,{"role":"`...), c.role...), `","parts":[`...)
	if len(c.results) > 0 {
		c.buf = append(c.buf, c.results[1:]...)
		if !c.parts.Empty() {
			c.buf = append(c.buf, ',')
		}
	}
	if c.role == user && !c.parts.Empty() {
		c.unsigned = c.unsigned[:0]
	}
	if c.bare > 0 {
		c.unsigned = append(c.unsigned, len(c.buf)+c.bare)
	}
	c.buf = append(append(c.buf, c.parts.Buf...), `]}`...)
}

// endText notes that the last part is a text, which can be signed.
func (c *contents) endText() { c.text = len(c.parts.Buf) }

// signText signs the last part if it is a text without a signature, and reports whether it is.
func (c *contents) signText(signature []byte) bool {
	if c.role != model || c.text == 0 || c.text != len(c.parts.Buf) {
		return false
	}
	c.parts.Buf = appendSignature(c.parts.Buf[:c.text-1], signature)
	c.parts.Buf = append(c.parts.Buf, '}')
	return true
}

// endCall ends a call, with its escaped signature or nil.
func (c *contents) endCall(signature []byte) {
	first := !c.called
	c.called = true
	if signature != nil {
		c.parts.Buf = appendSignature(c.parts.Buf, signature)
	} else if first {
		c.bare = len(c.parts.Buf)
	}
	c.parts.Buf = append(c.parts.Buf, '}')
}

func appendSignature(dst, signature []byte) []byte {
	return append(append(append(dst, `,"thoughtSignature":"`...), signature...), '"')
}

// noSignature takes the place of the signature of a call for which the model gave none: of
// another model's call, or of a client that has dropped the signature.
const noSignature = `,"thoughtSignature":` + skipped

const skipped = `"skip_thought_signature_validator"`

// Resigned takes the place of the signatures of calls that only this gateway can read.
var Resigned = []byte(skipped)

// lead puts a system text in front of the contents, as a text of the user.
func (c *contents) lead(system *parts.Content) {
	if system.Empty() {
		return
	}
	led, moved := system.Lead(c.buf, `,{"role":"user","parts":[`)
	for i := range c.unsigned {
		c.unsigned[i] += moved
	}
	c.buf = led
	system.Reset(openText, "")
}

// writeTo writes the contents. signs reports whether the first call of each content of the
// current turn needs a signature.
func (c *contents) writeTo(members *core.Members, signs bool) {
	members.Name("contents")
	*members = append(*members, '[')
	start := 1 // behind the first comma
	for _, end := range c.unsigned {
		if signs {
			*members = append(append(*members, c.buf[start:end]...), noSignature...)
			start = end
		}
	}
	*members = append(append(*members, c.buf[start:]...), ']')
}

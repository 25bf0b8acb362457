package parts

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/media"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The separators of texts that are joined, escaped.
const (
	LineFeed  = `\n`
	BlankLine = `\n\n`
)

// breakpoint is the member of a part that marks the end of the cached prefix.
const breakpoint = `,"prompt_cache_breakpoint":{"mode":"explicit"}`

// Content gathers the content of one message: a text of several pieces or, as soon as
// a part other than a text is added, an array of parts. It is kept as JSON; texts are
// never decoded.
type Content struct {
	Buf []byte // the gathered content

	text      string // the beginning of a text part
	separator string // the separator of two pieces of a text, escaped
	only      []byte // the only text, still in the body
	ends      []int  // of the pieces of a text
	array     bool
	lines     bool // a text of several lines is open
	spare     []byte
}

// Reset empties the content. text is the beginning of a text part, up to the text
// itself. separator is the separator of two pieces of one text, escaped.
func (c *Content) Reset(text, separator string) {
	c.text, c.separator, c.only, c.Buf, c.ends, c.array = text, separator, nil, c.Buf[:0], c.ends[:0], false
	c.lines = false
}

// Empty reports whether nothing was added. No piece is empty.
func (c *Content) Empty() bool { return len(c.only)+len(c.Buf) == 0 }

// IsArray reports whether the content is an array of parts.
func (c *Content) IsArray() bool { return c.array }

// Texts returns the number of pieces of a content that is one text.
func (c *Content) Texts() int {
	if c.only != nil {
		return 1
	}
	return len(c.ends)
}

// AddText adds a text of the body, or a line to the text that OpenLines began. A text that
// nothing follows is copied only once, by AppendTo.
func (c *Content) AddText(text []byte) {
	switch {
	case c.lines:
		c.Buf = append(append(c.Buf, LineFeed...), text...)
	case c.Empty() && !c.array:
		c.only = text
	default:
		c.Add(text)
	}
}

// OpenLines begins a text of several lines: the result of a search, whose title and source
// the texts up to CloseLines follow.
func (c *Content) OpenLines(title, source []byte) {
	c.Open()
	c.Buf = append(append(append(c.Buf, title...), LineFeed...), source...)
	c.lines = true
}

// InLines reports whether such a text is open.
func (c *Content) InLines() bool { return c.lines }

// CloseLines ends the text.
func (c *Content) CloseLines() {
	c.Close()
	c.lines = false
}

// AddReference adds the name of a tool that a search for tools has found.
func (c *Content) AddReference(name []byte) {
	c.Add([]byte("[tool available: "), name, []byte("]"))
}

// AddLeftOut adds a note in place of a document that is not sent.
func (c *Content) AddLeftOut(m *core.Media) {
	kind := cmp.Or(strings.ToUpper(media.Find(m.MediaType, nil).Word), "PDF")
	c.Add([]byte("["), FileName(m), []byte(" was left out: this model does not support "+kind+" input]"))
}

// settle copies the only text into the buffer, so that others can follow.
func (c *Content) settle() {
	if text := c.only; text != nil {
		c.only = nil
		c.Add(text)
	}
}

// Fuse joins the pieces of a text into one.
func (c *Content) Fuse() {
	c.settle()
	if !c.array {
		c.ends = append(c.ends[:0], len(c.Buf))
	}
}

// Add adds a text whose escaped pieces are given.
func (c *Content) Add(text ...[]byte) {
	c.Open()
	for _, t := range text {
		c.Buf = append(c.Buf, t...)
	}
	c.Close()
}

// Open begins a text, which the caller appends to buf, escaped.
func (c *Content) Open() {
	switch c.settle(); {
	case c.array:
		c.Part(c.text)
	case len(c.ends) > 0:
		c.Buf = append(c.Buf, c.separator...)
	}
}

// Close ends a text.
func (c *Content) Close() {
	if c.array {
		c.Buf = append(c.Buf, `"}`...)
	} else {
		c.ends = append(c.ends, len(c.Buf))
	}
}

// Part begins a part with its first bytes; the caller appends the others.
func (c *Content) Part(first string) {
	c.ToArray()
	if len(c.Buf) > 0 {
		c.Buf = append(c.Buf, ',')
	}
	c.Buf = append(c.Buf, first...)
}

// Mark puts a breakpoint on the part added last.
func (c *Content) Mark() {
	c.ToArray()
	c.Buf = Mark(c.Buf)
}

// Mark puts a breakpoint on the part that a buffer ends with, unless it has one.
func Mark(buf []byte) []byte {
	if bytes.HasSuffix(buf, []byte(breakpoint+"}")) {
		return buf
	}
	return append(buf[:len(buf)-1], breakpoint+"}"...)
}

// ToArray turns each piece of a text into a part.
func (c *Content) ToArray() {
	if c.settle(); c.array {
		return
	}
	c.array = true
	pieces := c.Buf
	c.Buf, c.spare = c.spare[:0], pieces
	start := 0
	for _, end := range c.ends {
		c.Part(c.text)
		c.Buf = append(c.Buf, pieces[start:end]...)
		c.Buf = append(c.Buf, `"}`...)
		start = end + len(c.separator)
	}
}

// Join adds all of another content.
func (c *Content) Join(other *Content) {
	if other.Empty() {
		return
	}
	if c.Empty() {
		c.separator, other.separator = other.separator, c.separator
		*c, *other = *other, *c
		return
	}
	c.settle()
	other.settle()
	if c.array || other.array {
		c.ToArray()
		other.ToArray()
		c.Part("")
		c.Buf = append(c.Buf, other.Buf...)
		return
	}
	if len(c.ends) > 0 {
		c.Buf = append(c.Buf, c.separator...)
	}
	for _, end := range other.ends {
		c.ends = append(c.ends, len(c.Buf)+end)
	}
	c.Buf = append(c.Buf, other.Buf...)
}

// JoinWith adds all of another content, behind another separator if both are texts.
func (c *Content) JoinWith(other *Content, separator string) {
	c.separator = separator
	c.Join(other)
}

// Forget drops all references to the body, and returns the size of the memory that the
// content keeps, in bytes.
func (c *Content) Forget() (kept int) {
	const end = 8
	c.only = nil
	return cap(c.Buf) + cap(c.spare) + end*cap(c.ends)
}

// AppendTo appends the content as a JSON value.
func (c *Content) AppendTo(dst []byte) []byte {
	first, last := byte('"'), byte('"')
	if c.array {
		first, last = '[', ']'
	}
	dst = append(dst, first)
	dst = append(append(dst, c.only...), c.Buf...)
	return append(dst, last)
}

const blame = "Error: "

// Blame puts a word that marks an error in front of the content, since the format has
// no field for it. A text that begins like an error stays as it is.
func (c *Content) Blame() {
	start := 0
	switch c.settle(); {
	case c.Empty():
		c.Add([]byte("Error:"))
		return
	case c.array && !bytes.HasPrefix(c.Buf, []byte(c.text)):
		c.insert(0, c.text+`Error:"},`)
		return
	case c.array:
		start = len(c.text)
	}
	beginning := c.Buf[start:min(start+len("error:"), len(c.Buf))]
	if !bytes.EqualFold(beginning, []byte("error:")) {
		c.insert(start, blame)
	}
}

// insert puts bytes into the first piece or in front of it.
func (c *Content) insert(index int, what string) {
	c.Buf = append(c.Buf, what...)
	copy(c.Buf[index+len(what):], c.Buf[index:])
	copy(c.Buf[index:], what)
	for i := range c.ends {
		c.ends[i] += len(what)
	}
}

// AddLines adds the lines that are not empty as one text, if there are any.
func (c *Content) AddLines(lines ...[]byte) {
	opened := false
	for _, line := range lines {
		switch {
		case len(line) == 0:
			continue
		case opened:
			c.Buf = append(c.Buf, LineFeed...)
		default:
			c.Open()
			opened = true
		}
		c.Buf = append(c.Buf, line...)
	}
	if opened {
		c.Close()
	}
}

// Lifetime returns how long a raw breakpoint of the cache holds, nil for the default.
// The breakpoint is the member of the element at hand, and kind is its own member that
// states its type; other members are reported as lost.
func Lifetime(x *core.Translation, breakpoint []byte, member, kind string) (ttl []byte) {
	for name, value := range jsonscan.Members(breakpoint) {
		switch text := string(jsonscan.Inner(value)); {
		case string(name) == kind:
		case string(name) != "ttl" || !jsonscan.IsZero(value) && text != "5m" && text != "1h":
			x.LoseMember(member, name)
		case !jsonscan.IsZero(value) && x.Keep(core.CachePartTTL, nil):
			ttl = value
		}
	}
	return ttl
}

package core

import (
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// ToolNames is the list of the names of a request's tools, for providers that accept
// only plain names of at most 64 bytes.
type ToolNames struct {
	LetterFirst bool // the provider accepts only names that begin with a letter or "_"
	Longest     int  // the length of the longest name, if it is not toolcall.LongestName

	tools   []namedTool
	scratch []byte
}

// namedTool is the name of a tool and where the client declares it.
type namedTool struct {
	raw   []byte
	place Place
	free  bool
}

// Reset empties the list, and drops all references to the body.
func (n *ToolNames) Reset() {
	clear(n.tools)
	n.tools = n.tools[:0]
}

// Add adds the name of a tool. If the provider gets another name, Add keeps both for
// the translation of the answer.
func (n *ToolNames) Add(x *Translation, t *Tool) {
	n.tools = append(n.tools, namedTool{t.Name, x.At, t.Free})
	if n.accepts(jsonscan.Inner(t.Name)) {
		return
	}
	name := jsonscan.TextOf(t.Name)
	if n.accepts([]byte(name)) {
		return
	}
	if x.Answer.Tools.Shortened == nil {
		x.Answer.Tools.Shortened = make(map[string]string)
	}
	x.Answer.Tools.Shortened[string(n.appendName(nil, []byte(name)))] = name
}

// accepts reports whether the provider accepts a name.
func (n *ToolNames) accepts(name []byte) bool {
	return len(name) <= cmp.Or(n.Longest, toolcall.LongestName) && translate.PlainName(name) && (!n.LetterFirst || beginsWithLetter(name))
}

// appendName appends the name that the provider gets for a decoded one.
func (n *ToolNames) appendName(dst, name []byte) []byte {
	if n.accepts(name) {
		return append(dst, name...)
	}
	start := len(dst)
	dst = toolcall.AppendName(dst, name)
	if n.LetterFirst && !beginsWithLetter(dst[start:]) {
		dst = slices.Insert(dst, start, '_')
	}
	return dst
}

// beginsWithLetter reports whether a name begins with a letter or "_".
func beginsWithLetter(name []byte) bool {
	return len(name) > 0 && ('a' <= name[0]|0x20 && name[0]|0x20 <= 'z' || name[0] == '_')
}

// AppendTo appends the name that the provider gets for a tool. Both names are escaped.
func (n *ToolNames) AppendTo(dst, name []byte) []byte {
	if n.accepts(name) {
		return append(dst, name...)
	}
	n.scratch = jsonscan.AppendUnescaped(n.scratch[:0], name)
	return n.appendName(dst, n.scratch)
}

// Check refuses the request if the provider would get the same name for two tools: a
// call of the one would reach the client as a call of the other.
func (n *ToolNames) Check(x *Translation) {
	known := x.Answer.Tools.Shortened
	for i := 0; len(known) > 0 && i < len(n.tools); i++ {
		name := jsonscan.TextOf(n.tools[i].raw)
		n.scratch = n.appendName(n.scratch[:0], []byte(name))
		if other, mapped := known[string(n.scratch)]; mapped && other != name {
			x.InvalidAt(n.tools[i].place, "name", "is what the name of another tool becomes for the provider")
		}
	}
}

// Find reports whether there is a tool with a raw name, however the name is escaped,
// and whether the tool takes a free text.
func (n *ToolNames) Find(raw []byte) (free, ok bool) {
	for i := range n.tools {
		if jsonscan.SameText(n.tools[i].raw, raw) {
			return n.tools[i].free, true
		}
	}
	return false, false
}

package messages

import (
	"math"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// What media count for, whatever their size, in tokens.
const (
	TokensOfImage    = 1500
	tokensOfDocument = 3000
)

// DefaultBytesPerToken is the ratio of a model of which nothing is known.
const DefaultBytesPerToken = 4

// Size is how much a request says: what an estimate of its tokens is made of.
type Size struct {
	Bytes     int64 // of texts, tool inputs, tool names, descriptions and schemas, in UTF-8
	Images    int64
	Documents int64 // sent as base64
}

// Tokens estimates the input tokens, at least 1. It is no count, and must never
// be shown as usage.
func (s Size) Tokens(bytesPerToken float64) int64 {
	text := int64(math.Ceil(float64(s.Bytes) / bytesPerToken))
	return max(1, text+TokensOfImage*s.Images+tokensOfDocument*s.Documents)
}

// Measure measures a body that has passed Inspect; of another one it measures
// what it could read.
func Measure(body []byte) Size {
	var m measure
	var request Request
	_ = m.reader.Walk(body, &request, &m)
	m.content(request.System, 0)
	return m.size
}

// measure adds up what a request says.
type measure struct {
	size   Size
	reader Reader
	inside [maxNesting + 1]Reader
}

func (m *measure) Begin(int, string)           {}
func (m *measure) End(*Message)                {}
func (m *measure) Other(Level, []byte, []byte) {}
func (m *measure) Text(raw []byte)             { m.texts(raw) }
func (m *measure) Block(_ int, b *Block)       { m.block(b, 0) }

func (m *measure) Tool(_ int, t *Tool) {
	m.texts(t.Name, t.Description)
	m.size.Bytes += int64(len(t.InputSchema))
}

// block measures a block with those in it, whatever its type says.
func (m *measure) block(b *Block, depth int) {
	m.texts(b.Text, b.Thinking, b.Name, b.Title, b.Context, b.Source)
	m.size.Bytes += int64(len(b.Input))
	switch {
	case string(b.Type) == "image":
		m.size.Images++
	case len(b.Source) > 0 && b.Source[0] == '{':
		m.source(b.Source, depth)
	}
	m.content(b.Content, depth)
}

func (m *measure) source(raw []byte, depth int) {
	source := *new(Reader).Source(raw, m)
	if string(source.Type) == "base64" {
		m.size.Documents++
		return
	}
	m.texts(source.Data)
	m.content(source.Content, depth)
}

// content measures a text or blocks.
func (m *measure) content(raw []byte, depth int) {
	m.texts(raw)
	if len(raw) == 0 || raw[0] != '[' || depth == len(m.inside) {
		return
	}
	blocks := &m.inside[depth]
	blocks.Blocks(raw, m)
	for b := blocks.Next(); b != nil; b = blocks.Next() {
		m.block(b, depth+1)
	}
}

// texts adds the lengths of those values that are strings, decoded.
func (m *measure) texts(raws ...[]byte) {
	for _, raw := range raws {
		if len(raw) > 0 && raw[0] == '"' {
			m.size.Bytes += int64(jsonscan.TextLen(raw))
		}
	}
}

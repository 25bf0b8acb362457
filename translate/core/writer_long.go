package core

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// longWriter is the Writer in front of that of a format with Target.LongTexts. Most of a large
// request is files and media, which translation does not change. Writers would copy them twice:
// into the messages, and with these into the request. A longWriter passes their first and last
// bytes, with a mark between them, and edits returns where the rest of each belongs in the request.
type longWriter struct {
	Writer
	middles [][]byte // of the texts, by the numbers of their marks
	memory  []byte   // of the texts that the writer gets

	// The arguments of its methods, kept here to save allocations.
	media Media
	tool  Tool
}

// The bounds of what is not copied, in bytes.
const (
	longText  = 4096 // the least length of a text: a shorter one is copied faster than it is sent apart
	firstPart = 64   // the least length of what the writer gets of its beginning, and of its end
	lastPart  = 192  // and the most, see cutNear
)

// A mark is a byte that no JSON has, and the number of the text in hexadecimal digits.
const (
	markByte   = 0
	markDigits = 6
)

var longWriters = sync.Pool{New: func() any { return new(longWriter) }}

// withLongTexts returns a longWriter in front of w.
func withLongTexts(w Writer) *longWriter {
	l := longWriters.Get().(*longWriter)
	l.Writer = w
	return l
}

// end drops all references to the request.
func (l *longWriter) end() {
	clear(l.middles)
	if *l = (longWriter{middles: l.middles[:0], memory: l.memory[:0]}); cap(l.memory) <= keptMemory {
		longWriters.Put(l)
	}
}

// edits returns the edits of a request, which begins at pos, that put the texts in the places of
// their marks.
func (l *longWriter) edits(request []byte, pos int) []edit.Edit {
	if len(l.middles) == 0 {
		return nil
	}
	edits := make([]edit.Edit, 0, len(l.middles))
	for {
		n := bytes.IndexByte(request[pos:], markByte)
		if n < 0 {
			return edits
		}
		start, end := pos+n, pos+n+1+markDigits
		number, _ := strconv.ParseUint(string(request[start+1:end]), 16, 32)
		edits = append(edits, edit.Edit{Span: translate.Span{Start: start, End: end}, With: l.middles[number]})
		pos = end
	}
}

// marked returns a text, or what the writer gets of a long one. A writer may look for the white
// space at the end of a text, so that it gets all of one that ends with much.
func (l *longWriter) marked(text []byte) []byte {
	if len(text) < longText || len(l.middles)>>(4*markDigits) > 0 {
		return text
	}
	head, tail := cutNear(text, firstPart), cutNear(text, len(text)-lastPart)
	if head == 0 || tail == 0 || jsonscan.OnlySpace(bytes.TrimSuffix(text[tail:], []byte{'"'})) { // descriptions have quotes
		return text
	}
	begin := len(l.memory)
	l.memory = append(append(l.memory, text[:head]...), markByte)
	for shift := 4 * (markDigits - 1); shift >= 0; shift -= 4 {
		l.memory = append(l.memory, "0123456789abcdef"[len(l.middles)>>shift&15])
	}
	l.memory = append(l.memory, text[tail:]...)
	l.middles = append(l.middles, text[head:tail])
	return l.memory[begin:len(l.memory):len(l.memory)]
}

// cutNear returns where a text can be divided, at an offset or up to lastPart-firstPart bytes
// behind it: within no escape and no character, so that both parts are texts. It returns 0 if there
// is no such place.
func cutNear(text []byte, offset int) int {
	const longestEscape = len(`\u0000`)
	plain := 0 // the number of bytes in front of the place that belong to no escape for sure
	for i := offset - longestEscape; i < offset+lastPart-firstPart; i++ {
		if plain >= longestEscape && text[i] < 0x80 {
			return i
		}
		if plain++; text[i] == '\\' || text[i] >= 0x80 {
			plain = 0
		}
	}
	return 0
}

// Text implements Writer.
func (l *longWriter) Text(text []byte) { l.Writer.Text(l.marked(text)) }

// Image implements Writer.
func (l *longWriter) Image(m *Media) { l.Writer.Image(l.shortened(m)) }

// Recording implements Writer.
func (l *longWriter) Recording(m *Media) { l.Writer.Recording(l.shortened(m)) }

// Document implements Writer.
func (l *longWriter) Document(m *Media) { l.Writer.Document(l.shortened(m)) }

// shortened returns the media with what the writer gets of its data.
func (l *longWriter) shortened(m *Media) *Media {
	l.media = *m
	l.media.Data = l.marked(m.Data)
	return &l.media
}

// Tool implements Writer.
func (l *longWriter) Tool(t *Tool) {
	l.tool = *t
	l.tool.Description = l.marked(t.Description)
	l.Writer.Tool(&l.tool)
}

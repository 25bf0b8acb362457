package request

import (
	"bytes"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// trim cuts the white space at the end of the open message, and the whole message if it
// consists of white space. It reports whether it cut something.
func (b *blockBuffer) trim() bool {
	starts, cut := b.starts(), false
	for i := len(starts) - 1; i >= 0; i-- {
		trimmed, whole := b.trimBlock(starts[i])
		if cut = cut || trimmed; !whole {
			break
		}
	}
	return cut
}

// starts returns the positions of the blocks of the open message.
func (b *blockBuffer) starts() (at []int) {
	b.settle()
	first := b.start - len("[")
	c := jsonscan.Again(append(b.buf[first:len(b.buf):len(b.buf)], ']'))
	for c.EnterArray(); c.Element(); c.Skip() {
		at = append(at, first+c.Offset())
	}
	return at
}

// trimBlock cuts the white space at the end of the last block if the block is a text. It
// reports whether there was any, and whether it cut the whole block, so that the block
// before may end with white space, too.
func (b *blockBuffer) trimBlock(last int) (cut, whole bool) {
	raw, isText := bytes.CutPrefix(b.buf[last:], []byte(openText))
	if !isText {
		return false, false
	}
	text := jsonscan.AppendUnescaped(nil, raw[:len(raw)-len(`"}`)])
	kept := bytes.TrimRightFunc(text, unicode.IsSpace)
	if len(kept) == len(text) {
		return false, false
	}
	marked := b.marked > 0 && b.marks[b.marked-1].at == len(b.buf)-1
	if len(kept) == 0 {
		b.cut(last, marked)
		return true, true
	}
	b.buf = append(jsonscan.AppendEscaped(b.buf[:last+len(openText)], kept), `"}`...)
	if marked {
		b.marks[b.marked-1].at = len(b.buf) - 1
	}
	return true, false
}

// cut cuts the last block, and the message if it has no other block.
func (b *blockBuffer) cut(last int, marked bool) {
	if marked {
		b.marked--
		b.lost = true
	}
	if b.buf = b.buf[:last]; last > b.start {
		b.buf = b.buf[:last-len(",")]
		return
	}
	head := bytes.LastIndexByte(b.buf, '{')
	b.buf, b.role = b.buf[:max(0, head-len(","))], ""
}

// endsWith reports whether the last block of the open message begins with first.
func (b *blockBuffer) endsWith(first string) bool {
	starts := b.starts()
	return len(starts) > 0 && bytes.HasPrefix(b.buf[starts[len(starts)-1]:], []byte(first))
}

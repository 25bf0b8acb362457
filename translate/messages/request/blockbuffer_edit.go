package request

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// trim cuts the white space at the end of the open message if its last block is a text, which
// is not blank. It reports whether there was any.
func (b *blockBuffer) trim() (cut bool) {
	starts := b.starts()
	start := starts[len(starts)-1]
	raw, isText := bytes.CutPrefix(b.buf[start:], []byte(openText))
	if !isText {
		return false
	}
	text := raw[:len(raw)-len(closeText)]
	kept := jsonscan.TrimEnd(text)
	if len(kept) == len(text) {
		return false
	}
	marked := b.marked > 0 && b.marks[b.marked-1].at == len(b.buf)-1
	b.buf = append(b.buf[:start+len(openText)+len(kept)], closeText...)
	if marked {
		b.marks[b.marked-1].at = len(b.buf) - 1
	}
	return true
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

// endsWith reports whether the last block of the open message begins with first.
func (b *blockBuffer) endsWith(first string) bool {
	starts := b.starts()
	return len(starts) > 0 && bytes.HasPrefix(b.buf[starts[len(starts)-1]:], []byte(first))
}

// lead moves the last block, which begins at from, behind the leading blocks of the open
// message. It reports whether the block was at another position.
func (b *blockBuffer) lead(from int) (moved bool) {
	to := b.front
	if to > b.start && to < len(b.buf) {
		to += len(",")
	}
	b.front = to + len(b.buf) - from
	if to == from {
		return false
	}
	block := bytes.Clone(b.buf[from:])
	rest := len(block) + len(",")
	copy(b.buf[to+rest:], b.buf[to:from-len(",")])
	copy(b.buf[to:], block)
	b.buf[b.front] = ','
	for i := range b.marks[:b.marked] {
		switch m := &b.marks[i]; {
		case m.at >= from:
			m.at -= from - to
		case m.at >= to:
			m.at += rest
		}
	}
	slices.SortFunc(b.marks[:b.marked], func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	return true
}

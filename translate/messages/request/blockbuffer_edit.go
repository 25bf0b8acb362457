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
	marked := b.marked > 0 && b.marks[b.marked-1].end == len(b.buf)-1
	b.buf = append(b.buf[:start+len(openText)+len(kept)], closeText...)
	if marked {
		b.marks[b.marked-1].end = len(b.buf) - 1
	}
	return true
}

// starts returns the positions of the blocks of the open message.
func (b *blockBuffer) starts() (positions []int) {
	b.settle()
	first := b.start - len("[")
	c := jsonscan.Again(append(b.buf[first:len(b.buf):len(b.buf)], ']'))
	for c.EnterArray(); c.Element(); c.Skip() {
		positions = append(positions, first+c.Offset())
	}
	return positions
}

// endsWith reports whether the last block of the open message begins with first.
func (b *blockBuffer) endsWith(first string) bool {
	starts := b.starts()
	return len(starts) > 0 && bytes.HasPrefix(b.buf[starts[len(starts)-1]:], []byte(first))
}

// lead moves the last block, which begins at start, behind the leading blocks of the open
// message. It reports whether the block was at another position.
func (b *blockBuffer) lead(start int) (moved bool) {
	target := b.front
	if target > b.start && target < len(b.buf) {
		target += len(",")
	}
	b.front = target + len(b.buf) - start
	if target == start {
		return false
	}
	block := bytes.Clone(b.buf[start:])
	rest := len(block) + len(",")
	copy(b.buf[target+rest:], b.buf[target:start-len(",")])
	copy(b.buf[target:], block)
	b.buf[b.front] = ','
	for i := range b.marks[:b.marked] {
		switch m := &b.marks[i]; {
		case m.end >= start:
			m.end -= start - target
		case m.end >= target:
			m.end += rest
		}
	}
	slices.SortFunc(b.marks[:b.marked], func(a, b mark) int { return cmp.Compare(a.end, b.end) })
	return true
}

package request

import (
	"bytes"
	"cmp"
	"slices"
)

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

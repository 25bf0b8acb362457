package request

import (
	"bytes"
	"cmp"
	"slices"
)

// lead makes the block that begins at from, and was added last, one of those that
// lead the open message, behind the others that do. It reports whether it stood
// elsewhere.
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

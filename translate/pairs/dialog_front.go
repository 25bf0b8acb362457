package pairs

import (
	"bytes"
	"cmp"
	"slices"
)

// lead makes the block that begins at from, and was added last, one of those that
// lead the open message, behind the others that do. It reports whether it stood
// elsewhere.
func (d *dialog) lead(from int) (moved bool) {
	to := d.front
	if to > d.start && to < len(d.buf) {
		to += len(",")
	}
	d.front = to + len(d.buf) - from
	if to == from {
		return false
	}
	block := bytes.Clone(d.buf[from:])
	rest := len(block) + len(",")
	copy(d.buf[to+rest:], d.buf[to:from-len(",")])
	copy(d.buf[to:], block)
	d.buf[d.front] = ','
	for i := range d.marks[:d.marked] {
		switch m := &d.marks[i]; {
		case m.at >= from:
			m.at -= from - to
		case m.at >= to:
			m.at += rest
		}
	}
	slices.SortFunc(d.marks[:d.marked], func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	return true
}

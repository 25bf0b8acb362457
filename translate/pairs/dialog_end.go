package pairs

import (
	"bytes"
	"unicode"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// trim cuts the white space at the end of the open message, and the message if
// it has nothing else.
func (d *dialog) trim() {
	starts := d.starts()
	for i := len(starts) - 1; i >= 0 && d.trimBlock(starts[i]); i-- {
	}
}

// starts are where the blocks of the open message begin.
func (d *dialog) starts() (at []int) {
	first := d.start - len("[")
	c := jsonscan.Again(append(d.buf[first:len(d.buf):len(d.buf)], ']'))
	for c.EnterArray(); c.Element(); c.Skip() {
		at = append(at, first+c.Offset())
	}
	return at
}

// trimBlock cuts the white space at the end of the last block, if that is a text.
// It reports whether all of the block went, so that there may be more to cut.
func (d *dialog) trimBlock(last int) (again bool) {
	raw, isText := bytes.CutPrefix(d.buf[last:], []byte(openText))
	if !isText {
		return false
	}
	text := jsonscan.AppendText(nil, raw[:len(raw)-len("}")])
	kept := bytes.TrimRightFunc(text, unicode.IsSpace)
	if len(kept) == len(text) {
		return false
	}
	marked := d.marked > 0 && d.marks[d.marked-1].at == len(d.buf)-1
	if len(kept) == 0 {
		d.cut(last, marked)
		return true
	}
	d.buf = append(jsonscan.AppendString(d.buf[:last+len(openText)], kept), '}')
	if marked {
		d.marks[d.marked-1].at = len(d.buf) - 1
	}
	return false
}

// cut cuts the last block, and the message that has no other.
func (d *dialog) cut(last int, marked bool) {
	if marked {
		d.marked--
		d.lost = true
	}
	if d.buf = d.buf[:last]; last > d.start {
		d.buf = d.buf[:last-len(",")]
		return
	}
	head := bytes.LastIndexByte(d.buf, '{')
	d.buf, d.role = d.buf[:max(0, head-len(","))], ""
}

// endsWith reports whether the last block of the open message begins with that.
func (d *dialog) endsWith(first string) bool {
	starts := d.starts()
	return len(starts) > 0 && bytes.HasPrefix(d.buf[starts[len(starts)-1]:], []byte(first))
}

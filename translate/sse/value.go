package sse

// value is the value of a field: a slice of the feed, until keep copies it.
type value struct {
	text []byte
	set  bool
	kept bool // text is a slice of buf
	buf  []byte
}

// put sets the value.
func (v *value) put(text []byte) {
	v.text, v.set, v.kept = text, true, false
}

// join adds a line to the value.
func (v *value) join(text []byte) {
	if !v.set {
		v.put(text)
		return
	}
	v.keep()
	v.buf = append(v.buf, '\n')
	v.buf = append(v.buf, text...)
	v.text = v.buf
}

// keep copies the value into memory of its own.
func (v *value) keep() {
	if v.set && !v.kept {
		v.buf = append(v.buf[:0], v.text...)
		v.text, v.kept = v.buf, true
	}
}

// clear removes the value; slices of it stay valid until the next value.
func (v *value) clear() {
	v.text, v.set, v.kept = nil, false, false
}

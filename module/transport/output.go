package transport

import (
	"bytes"
	"io"
	"sync"
)

// output contains the bytes of a stream that a lane has written, and that were not read yet.
// It has memory only while it contains any: a stream waits most of the time, and there may be
// thousands of streams.
type output struct{ held *bytes.Buffer }

// maxPooledOutput is the largest memory of an output in the pool, in bytes.
const maxPooledOutput = 128 << 10

var outputs = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Len returns the number of bytes.
func (o *output) Len() int {
	if o.held == nil {
		return 0
	}
	return o.held.Len()
}

// buffer returns the memory for further bytes.
func (o *output) buffer() *bytes.Buffer {
	if o.held == nil {
		o.held = outputs.Get().(*bytes.Buffer)
	}
	return o.held
}

// Write adds bytes.
func (o *output) Write(p []byte) {
	if len(p) > 0 {
		o.buffer().Write(p)
	}
}

// Read removes bytes from the beginning. It must not be called without any.
func (o *output) Read(p []byte) int {
	n, _ := o.held.Read(p) // fails only without bytes
	if o.held.Len() == 0 {
		o.Reset()
	}
	return n
}

// WriteTo moves all bytes to w.
func (o *output) WriteTo(w io.Writer) (n int64, err error) {
	if o.held != nil {
		n, err = o.held.WriteTo(w)
		o.Reset()
	}
	return n, err
}

// Reset removes all bytes.
func (o *output) Reset() {
	if o.held != nil && o.held.Cap() <= maxPooledOutput {
		o.held.Reset()
		outputs.Put(o.held)
	}
	o.held = nil
}

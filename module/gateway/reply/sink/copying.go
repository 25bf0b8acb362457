package sink

import "net/http"

// Copying returns a ResponseWriter for the answer to r, whose memory the caller of Write may use
// again. With HTTP/2 that is not w: when the client resets its stream, Write returns while
// net/http may not have read the bytes yet, and it may still send them. By then, pooled memory
// has the answer of another client.
func Copying(w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	if r.ProtoMajor != 2 {
		return w
	}
	return &copying{ResponseWriter: w}
}

// copying writes copies, in memory that is never used for another client.
type copying struct {
	http.ResponseWriter
	memory []byte
}

// Unwrap lets an http.ResponseController find the methods of the connection.
func (c *copying) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Write writes a copy of p.
func (c *copying) Write(p []byte) (int, error) {
	c.memory = append(c.memory[:0], p...)
	return c.ResponseWriter.Write(c.memory)
}

package gatewaytest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
)

// bent is a ResponseWriter whose Write calls write.
type bent struct {
	http.ResponseWriter
	write func(p []byte) (int, error)
}

func (b *bent) Write(p []byte) (int, error) { return b.write(p) }

// Unwrap lets a ResponseController flush.
func (b *bent) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// answerThrough lets the engine answer, and calls write for each Write of the engine.
func (c *Call) answerThrough(write func(p []byte) (int, error)) {
	c.Engine.ServeHTTP(&bent{c.ResponseWriter, write}, c.Request)
}

// CutAt lets the engine answer, and breaks the connection off after n bytes of the body. A
// shorter answer stays whole.
func CutAt(n int) Step {
	return func(c *Call) {
		left := n
		c.answerThrough(func(p []byte) (int, error) {
			if left >= len(p) {
				left -= len(p)
				return c.Write(p)
			}
			_, _ = c.Write(p[:left])
			c.flush()
			c.abort()
			return 0, nil
		})
	}
}

// Drip lets the engine answer, and sends the body in flushed pieces of n bytes.
func Drip(n int) Step {
	return func(c *Call) {
		c.answerThrough(func(p []byte) (int, error) {
			for start := 0; start < len(p); start += n {
				if _, err := c.Write(p[start:min(start+n, len(p))]); err != nil {
					return start, err
				}
				c.flush()
			}
			return len(p), nil
		})
	}
}

// StallAfter lets the engine answer a stream, and waits after n events until the gate
// opens. With n = 0, it waits after the headers.
func StallAfter(n int, gate *Gate) Step {
	return func(c *Call) {
		events := 0
		c.answerThrough(func(p []byte) (int, error) {
			if events == n {
				c.wait(gate)
			}
			events += bytes.Count(p, []byte("\n\n"))
			return c.Write(p)
		})
	}
}

// StallAt lets the engine answer, and waits after n bytes of the body until the gate opens.
// The position may be in the middle of an event or a character.
func StallAt(n int, gate *Gate) Step {
	return func(c *Call) {
		sent := 0
		c.answerThrough(func(p []byte) (int, error) {
			head := min(max(n-sent, 0), len(p))
			sent += len(p)
			if head < len(p) && sent-len(p)+head == n {
				if _, err := c.Write(p[:head]); err != nil {
					return 0, err
				}
				c.flush()
				c.wait(gate)
				p = p[head:]
			} else {
				head = 0
			}
			written, err := c.Write(p)
			return head + written, err
		})
	}
}

// WithContentType lets the engine answer with another content type.
func WithContentType(contentType string) Step {
	return func(c *Call) {
		c.Engine.ServeHTTP(&retyped{c.ResponseWriter, contentType}, c.Request)
	}
}

// retyped replaces the content type immediately before the headers are sent.
type retyped struct {
	http.ResponseWriter
	contentType string
}

func (r *retyped) WriteHeader(status int) {
	r.Header().Set("Content-Type", r.contentType)
	r.ResponseWriter.WriteHeader(status)
}

func (r *retyped) Write(p []byte) (int, error) {
	r.Header().Set("Content-Type", r.contentType)
	return r.ResponseWriter.Write(p)
}

// Unwrap lets a ResponseController flush.
func (r *retyped) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Gzip lets the engine answer, and compresses the answer even if the request does not
// accept gzip.
func Gzip() Step {
	return func(c *Call) {
		c.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(c.ResponseWriter)
		c.answerThrough(func(p []byte) (int, error) {
			n, err := zip.Write(p)
			if err != nil {
				return n, err
			}
			return n, zip.Flush()
		})
		_ = zip.Close() // the caller may have left
	}
}

// Endless answers with a stream that repeats the event until the caller leaves.
func Endless(event string) Step {
	return func(c *Call) {
		c.startStream()
		for {
			if _, err := io.WriteString(c.ResponseWriter, event); err != nil || c.Request.Context().Err() != nil {
				c.abort()
			}
			c.flush()
		}
	}
}

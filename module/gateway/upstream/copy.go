package upstream

import (
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
)

// Sizes of the buffers between a provider and its client, in bytes. A stream waits for
// small events most of the time, and there may be thousands of streams. A stream waits
// with a small buffer, and uses a larger one only in a burst of events.
const (
	waitBuffer   = 2 << 10
	streamBuffer = 8 << 10
	answerBuffer = 32 << 10
)

var (
	waitBuffers   = bufferPool(waitBuffer)
	streamBuffers = bufferPool(streamBuffer)
	answerBuffers = bufferPool(answerBuffer)
)

func bufferPool(size int) *sync.Pool {
	return &sync.Pool{New: func() any { buf := make([]byte, size); return &buf }}
}

// waiting is an optional interface of the bodies of streams.
type waiting interface {
	// OnWait makes f run before each read that waits for the provider. It returns false if
	// the body cannot do that.
	OnWait(f func()) bool
}

// copyBody copies the body of an answer to the receiver. A stream, which is a body of unknown
// length, is sent before each read that waits, so that events which have arrived together are
// sent together; or after every read, if the body does not report waits. What is left at the end
// is sent with the end of the answer.
func copyBody(to exchange.Receiver, res *http.Response) error {
	c := copying{to: to, large: answerBuffers}
	defer c.put()
	stream, reportsWaits := res.ContentLength < 0, false
	if stream {
		c.large = streamBuffers
		body, ok := res.Body.(waiting)
		reportsWaits = ok && body.OnWait(c.flush)
	}
	for n := 0; ; {
		var err error
		n, err = res.Body.Read(c.room(n))
		c.end += n
		switch {
		case err != nil || !stream:
			c.write()
		case !reportsWaits:
			c.flush()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading answer: %w", err)
		}
	}
}

// copying is the state of copyBody.
type copying struct {
	to    exchange.Receiver
	large *sync.Pool // the pool of buffers for bursts

	from    *sync.Pool // the pool of the buffer
	buffer  *[]byte    // nil before the first read
	written int        // bytes at its beginning that the receiver has got
	end     int        // of the bytes that were read
}

// room returns the memory for the read after a read of n bytes. After a read that would have
// filled half of the small buffer, more bytes are probably waiting.
func (c *copying) room(n int) []byte {
	if c.buffer != nil && c.written < c.end && len(*c.buffer)-c.end >= waitBuffer/2 {
		return (*c.buffer)[c.end:]
	}
	c.write()
	c.written, c.end = 0, 0
	from := waitBuffers
	if n > waitBuffer/2 {
		from = c.large
	}
	if from != c.from {
		c.put()
		c.from, c.buffer = from, from.Get().(*[]byte)
	}
	return *c.buffer
}

// write writes the bytes that the receiver has not got yet. The sink handles a client that has
// disconnected.
func (c *copying) write() {
	if c.written < c.end {
		_, _ = c.to.Write((*c.buffer)[c.written:c.end])
		c.written = c.end
	}
}

// flush writes and flushes.
func (c *copying) flush() {
	c.write()
	_ = c.to.FlushError()
}

func (c *copying) put() {
	if c.buffer != nil {
		c.from.Put(c.buffer)
	}
}

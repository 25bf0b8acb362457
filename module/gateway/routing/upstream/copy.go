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

// copyBody copies the body of an answer to the receiver. It flushes a stream, which is a
// body of unknown length, before each read that waits, so that events which have arrived
// together are sent together; or after every read, if the body does not report waits. What
// is left at the end is sent with the end of the answer.
func copyBody(receiver exchange.Receiver, res *http.Response) error {
	b, flushes := copyBuffer{large: answerBuffers}, false
	if res.ContentLength < 0 {
		body, ok := res.Body.(waiting)
		b.large, flushes = streamBuffers, !ok || !body.OnWait(func() { _ = receiver.FlushError() })
	}
	defer b.put()
	for n := 0; ; {
		var err error
		if n, err = res.Body.Read(b.after(n)); n > 0 {
			_, _ = receiver.Write((*b.held)[:n]) // the sink handles a client that has disconnected
			if flushes {
				_ = receiver.FlushError()
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading answer: %w", err)
		}
	}
}

// copyBuffer is the buffer of one answer.
type copyBuffer struct {
	large *sync.Pool // the pool of buffers for bursts
	pool  *sync.Pool // the pool of held
	held  *[]byte    // nil before the first read
}

// after returns the buffer for the read after a read of n bytes. After a read that has
// filled half of the small buffer, more bytes are probably waiting.
func (b *copyBuffer) after(n int) []byte {
	pool := waitBuffers
	if n > waitBuffer/2 {
		pool = b.large
	}
	if pool != b.pool {
		b.put()
		b.pool, b.held = pool, pool.Get().(*[]byte)
	}
	return *b.held
}

func (b *copyBuffer) put() {
	if b.held != nil {
		b.pool.Put(b.held)
	}
}

package gatewaytest

import (
	"net/http"
	"os"
	"strings"
	"time"
)

// flooded is an event of a chat stream, of 16 KiB.
var flooded = []byte("data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + strings.Repeat("x", 16<<10) + "\"},\"finish_reason\":null}]}\n\n")

// Flood writes events of 16 KiB until the caller leaves. Use it as a later step of InOrder.
func Flood() Step {
	return func(c *Call) {
		for c.writeFlushed(flooded) == nil {
		}
		c.abort()
	}
}

// stuckAfter is the duration of a write after which FloodUntilStuck ends.
const stuckAfter = 500 * time.Millisecond

// FloodUntilStuck is Flood that ends when it has written most bytes, or when the caller
// reads nothing for a while. It then sends the number of written bytes to stuck.
func FloodUntilStuck(limit int, stuck chan<- int) Step {
	return func(c *Call) {
		control := http.NewResponseController(c.ResponseWriter)
		for written := 0; written < limit; written += len(flooded) {
			_ = control.SetWriteDeadline(time.Now().Add(stuckAfter)) // net/http has write deadlines
			switch err := c.writeFlushed(flooded); {
			case os.IsTimeout(err):
				stuck <- written
				c.abort()
			case err != nil:
				c.abort()
			}
		}
		stuck <- limit
	}
}

func (c *Call) writeFlushed(p []byte) error {
	if _, err := c.Write(p); err != nil {
		return err
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

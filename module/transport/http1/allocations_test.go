//go:build unix && !race

package http1

import (
	"bufio"
	"io"
	"math"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bound is exact, with the allocations of the test, so that one that is added to the way of all
// requests is noticed.
func TestAllocationsOfARequest(t *testing.T) {
	p := newProvider(t, func(conn net.Conn, _ *bufio.Reader) {
		for request, answer := make([]byte, 1<<10), []byte(answerOK); ; {
			if _, err := conn.Read(request); err != nil {
				return
			}
			_, _ = conn.Write(answer)
		}
	})
	transport, r, body := newTransport(t), post(t, p, "{}"), make([]byte, 8)
	least := math.Inf(1)
	for range 100 {
		least = min(least, testing.AllocsPerRun(1, func() {
			r.Body.(*payload).Reset([]byte("{}"))
			res, err := transport.RoundTrip(r)
			require.NoError(t, err)
			n, err := res.Body.Read(body)
			require.Equal(t, "ok", string(body[:n]))
			require.Equal(t, io.EOF, err)
		}))
	}
	assert.LessOrEqual(t, least, 11.)
}

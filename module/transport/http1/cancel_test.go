//go:build unix

package http1

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errGone = errors.New("the client has left")

// A call ends with its client, wherever it waits.
func TestARequestEndsWithItsContext(t *testing.T) {
	for name, test := range map[string]struct {
		answer string // before the provider waits
		body   string
	}{
		"before the head": {"", "{}"}, "within the head": {"HTTP/1.1 200 OK\r\n", "{}"},
		"within the body":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "{}"},
		"while it is sent":  {"", strings.Repeat(long, 1000)},
		"before and behind": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", strings.Repeat(long, 1000)},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
				if test.body == "{}" {
					_, _ = readRequest(requests)
				}
				_, _ = io.WriteString(conn, test.answer)
				if !strings.Contains(test.answer, "\r\n\r\n") {
					cancel(errGone)
				}
				_, err := io.Copy(io.Discard, requests)
				ended <- err
			})
			transport := newTransport(t)
			r := post(t, p, test.body, withContext(ctx))
			res, err := transport.RoundTrip(r)
			if err == nil {
				_, err = io.ReadFull(res.Body, make([]byte, 2))
				require.NoError(t, err)
				cancel(errGone)
				_, err = res.Body.Read(make([]byte, 1))
				require.NoError(t, res.Body.Close())
			}
			assert.ErrorIs(t, err, errGone)
			<-ended // the connection
			assert.Nil(t, transport.pool.pop(p.Addr().String()))
		})
	}
}

func TestARequestWhoseContextHasEndedIsNotSent(t *testing.T) {
	var requests atomic.Int64
	p := newProvider(t, func(conn net.Conn, reader *bufio.Reader) {
		for {
			if _, err := readRequest(reader); err != nil {
				return
			}
			requests.Add(1)
			_, _ = io.WriteString(conn, answerOK)
		}
	})
	transport := newTransport(t)
	finish(t, open(t, transport, p))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errGone)
	r := post(t, p, "{}", withContext(ctx))
	_, err := transport.RoundTrip(r)
	assert.ErrorIs(t, err, errGone)
	assert.True(t, r.Body.(*payload).closed.Load())
	finish(t, open(t, transport, p))
	assert.EqualValues(t, 2, requests.Load())
	assert.EqualValues(t, 1, p.accepted.Load(), "the idle connection is not lost")
}

func TestADialEndsWithTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	transport := newTransport(t, func(o *reverseproxy.HTTPTransport) {
		o.Transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			cancel(errGone)
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	_, err := transport.RoundTrip(post(t, newProvider(t, answering(answerOK)), "{}", withContext(ctx)))
	assert.Equal(t, errGone, err, "the cause, by which the failure is classified")
}

// reverse_proxy asks another upstream after an error of the dial, which it finds by its type.
func TestAnErrorOfTheDialIsReturnedAsItIs(t *testing.T) {
	p := newProvider(t, answering(answerOK))
	failed := fmt.Errorf("dialing: %w", errGone)
	transport := newTransport(t, func(o *reverseproxy.HTTPTransport) {
		o.Transport.DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, failed }
	})
	_, err := transport.RoundTrip(post(t, p, "{}"))
	assert.Equal(t, failed, err)
}

//go:build unix

package http1

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// open sends a request whose answer is not read yet.
func open(t *testing.T, transport *Transport, p *provider) *http.Response {
	t.Helper()
	res, err := transport.RoundTrip(post(t, p, "{}"))
	require.NoError(t, err)
	return res
}

func finish(t *testing.T, res *http.Response) {
	t.Helper()
	_, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	p, transport := newProvider(t, answering(answerOK)), newTransport(t)
	var answers []*http.Response
	for range 4 {
		answers = append(answers, open(t, transport, p))
	}
	for _, res := range answers {
		finish(t, res)
	}
	assert.Len(t, transport.pool.idle[p.Addr().String()], 2)
	for range 2 {
		answers = append(answers, open(t, transport, p))
	}
	assert.EqualValues(t, 4, p.accepted.Load())
}

// The others end as soon as fewer are needed. If they took turns, none would ever be idle for long.
func TestTheConnectionThatWasUsedLastIsUsedAgain(t *testing.T) {
	p, transport := newProvider(t, answering(answerOK)), newTransport(t)
	a, b := open(t, transport, p), open(t, transport, p)
	last := b.Body.(*body).conn.Load()
	finish(t, a)
	finish(t, b)
	res := open(t, transport, p)
	assert.Same(t, last, res.Body.(*body).conn.Load())
	finish(t, res)
}

func TestHostsHaveTheirOwnConnections(t *testing.T) {
	transport := newTransport(t)
	a, b := newProvider(t, answering(answerOK)), newProvider(t, answering("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"))
	for range 2 {
		for of, want := range map[*provider]int{a: 200, b: 201} {
			res := open(t, transport, of)
			assert.Equal(t, want, res.StatusCode)
			finish(t, res)
		}
	}
	assert.EqualValues(t, 1, a.accepted.Load())
	assert.EqualValues(t, 1, b.accepted.Load())
}

// The answer to a refused credential is not read before the request is sent again.
func TestAnAnswerWithoutABodyFreesItsConnectionUnread(t *testing.T) {
	p, transport := newProvider(t, answering("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")), newTransport(t)
	for range 2 {
		require.NoError(t, open(t, transport, p).Body.Close())
	}
	assert.EqualValues(t, 1, p.accepted.Load())
}

// timed is a transport whose idle connections are closed after an hour.
func timed(t *testing.T) *Transport {
	return newTransport(t, func(o *reverseproxy.HTTPTransport) { o.Transport.IdleConnTimeout = time.Hour })
}

func TestConnectionsThatAreIdleForTooLongAreClosed(t *testing.T) {
	ended := make(chan error, 1)
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		answering(answerOK)(conn, requests)
		ended <- nil
	})
	transport := timed(t)
	finish(t, open(t, transport, p))
	require.NotNil(t, transport.pool.timer)
	transport.pool.sweep()
	require.Len(t, transport.pool.idle, 1)
	require.NotNil(t, transport.pool.timer)
	transport.pool.idle[p.Addr().String()][0].idle = time.Now().Add(-time.Hour)
	transport.pool.sweep()
	<-ended
	assert.Empty(t, transport.pool.idle)
	assert.Nil(t, transport.pool.timer)
}

// The sweep may come an eighth of the timeout later. A timeout that is a bit shorter than that of the
// provider once did not ensure that the provider closes no connection while a request is sent.
func TestAConnectionThatWasIdleForTooLongIsNotUsed(t *testing.T) {
	p, transport := newProvider(t, answering(answerOK)), timed(t)
	finish(t, open(t, transport, p))
	transport.pool.idle[p.Addr().String()][0].idle = time.Now().Add(-time.Hour)
	finish(t, open(t, transport, p))
	assert.EqualValues(t, 2, p.accepted.Load())
}

// Their sockets would otherwise be kept until the timeout.
func TestConnectionsThatTheProviderHasClosedAreClosed(t *testing.T) {
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		_, _ = readRequest(requests)
		_, _ = io.WriteString(conn, answerOK)
	})
	transport := timed(t)
	finish(t, open(t, transport, p))
	c := transport.pool.pop(p.Addr().String())
	c.left = 1
	_, err := c.reader.Peek(1)
	require.Equal(t, io.EOF, err)
	transport.pool.put(c)
	transport.pool.sweep()
	assert.Empty(t, transport.pool.idle)
	finish(t, open(t, transport, p))
	assert.EqualValues(t, 2, p.accepted.Load())
}

func TestACloseEndsAllConnections(t *testing.T) {
	ended := make(chan error, 2)
	p := newProvider(t, func(conn net.Conn, requests *bufio.Reader) {
		answering(answerOK)(conn, requests)
		ended <- nil
	})
	transport := newTransport(t)
	idle, used := open(t, transport, p), open(t, transport, p)
	finish(t, idle)
	transport.Close()
	<-ended
	finish(t, used) // an answer is not cut off
	<-ended
}

func TestIdleConnectionsAreClosedOnRequest(t *testing.T) {
	p, transport := newProvider(t, answering(answerOK)), newTransport(t)
	for range 2 {
		finish(t, open(t, transport, p))
		transport.CloseIdleConnections()
	}
	assert.EqualValues(t, 2, p.accepted.Load())
}

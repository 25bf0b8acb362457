package site

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/gatewaytest"
)

// Stream is an answer that is read event by event.
type Stream struct {
	*http.Response
	// Cancel makes the client leave.
	Cancel context.CancelFunc

	t      testing.TB
	reader *bufio.Reader
	read   strings.Builder // all events so far
}

func newStream(t testing.TB, response *http.Response, cancel context.CancelFunc) *Stream {
	t.Cleanup(func() { _ = response.Body.Close() })
	return &Stream{Response: response, Cancel: cancel, t: t, reader: bufio.NewReader(response.Body)}
}

// Open posts a body with ClientKey and returns once the headers of the answer
// have arrived.
func (s *Site) Open(path, body string, headers ...string) *Stream {
	s.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.T.Cleanup(cancel)
	response, err := s.Send(ctx, path, body, headers...)
	require.NoError(s.T, err)
	return newStream(s.T, response, cancel)
}

// Next waits for one event, or comment, and returns its lines.
func (s *Stream) Next() string {
	s.t.Helper()
	var event strings.Builder
	for {
		line, err := s.reader.ReadString('\n')
		require.NoError(s.t, err, "after: %s", s.read.String())
		s.read.WriteString(line)
		if line == "\n" && event.Len() > 0 {
			return event.String()
		}
		event.WriteString(line)
	}
}

// NextUntil reads events up to the first that contains the text. A short text needs the
// quotes around it: ids are random letters, and "Hi" was once found in one.
func (s *Stream) NextUntil(text string) {
	s.t.Helper()
	for !strings.Contains(s.Next(), text) {
	}
}

// Rest reads to the end and returns the whole answer, what Next has returned
// included.
func (s *Stream) Rest() Reply {
	raw, err := io.ReadAll(s.reader)
	return Reply{s.StatusCode, s.Header, s.read.String() + string(raw), err}
}

// AfterContent scripts an answer that begins with these bytes and continues with the step
// after the client has read "Hi". It returns the stream of a request for the model "m".
func (s *Site) AfterContent(p *gatewaytest.Provider, path, begin string, then gatewaytest.Step) Reply {
	s.T.Helper()
	return s.OpenAfterContent(p, path, begin, then).Rest()
}

// OpenAfterContent is AfterContent without the wait for the end of the stream. The gateway
// holds the connection of some clients open behind an error, so that tests of many errors
// open all streams before they read the first to its end.
func (s *Site) OpenAfterContent(p *gatewaytest.Provider, path, begin string, then gatewaytest.Step) *Stream {
	s.T.Helper()
	gate := gatewaytest.NewGate(s.T)
	p.Script(gatewaytest.InOrder(gatewaytest.Chunks(gatewaytest.EventStream, begin), gatewaytest.Stall(gate, then)))
	answer := s.Open(path, BodyFor(path, "m", "hello", true))
	require.Equal(s.T, http.StatusOK, answer.StatusCode)
	answer.NextUntil(`"Hi"`)
	gate.Open()
	return answer
}

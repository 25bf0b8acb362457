package site

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// Raw sends a request exactly as it is given, and reads the answer. A normal client would
// correct the request. The lines are those of the head, beginning with the request line;
// host and length are added.
func (s *Site) Raw(body string, lines ...string) Reply {
	s.T.Helper()
	head := append(lines, fmt.Sprint("Host: 127.0.0.1:", s.Port(s.name())), fmt.Sprint("Content-Length: ", len(body)), "Connection: close")
	return s.RawBytes(strings.Join(head, "\r\n") + "\r\n\r\n" + body)
}

// RawBytes sends all bytes of a connection and reads the first answer.
func (s *Site) RawBytes(text string) Reply {
	s.T.Helper()
	reply, err := s.TryBytes(text)
	require.NoError(s.T, err, "%.200s", text)
	return reply
}

// TryBytes is RawBytes for a connection that may break off without an answer.
func (s *Site) TryBytes(text string) (Reply, error) {
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port(s.name())), Patience)
	if err != nil {
		return Reply{}, err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(Patience))
	if _, err = io.WriteString(conn, text); err != nil {
		return Reply{}, err
	}
	method, _, _ := strings.Cut(text, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return Reply{}, err
	}
	return ReadReply(response), nil
}

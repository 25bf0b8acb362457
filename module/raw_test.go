package module_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// raw sends a request that is written out as it is, since clients correct what
// these tests are about, and reads the answer. The lines are those of the head,
// the first being the request line; host and length are added.
func (s *site) raw(body string, lines ...string) reply {
	s.t.Helper()
	head := append(lines, fmt.Sprint("Host: 127.0.0.1:", s.Port("site")), fmt.Sprint("Content-Length: ", len(body)), "Connection: close")
	return s.bytes(strings.Join(head, "\r\n") + "\r\n\r\n" + body)
}

// bytes sends all of a connection and reads the first answer.
func (s *site) bytes(text string) reply {
	s.t.Helper()
	conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.Port("site")), patience)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(s.t, conn.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(conn, text)
	require.NoError(s.t, err)
	method, _, _ := strings.Cut(text, " ")
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(s.t, err, "%.200s", text)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(body), err}
}

// assertOurs checks what every answer of the gateway's own has, and that the
// body is this one, in which R stands for the id of the request.
func (r reply) assertOurs(t assert.TestingT, status int, body string, about ...any) {
	assert.Equal(t, status, r.status, about...)
	id := r.header.Get("Request-Id")
	assert.Regexp(t, `^req_[0-9A-Za-z]{24}$`, id, about...)
	assert.Equal(t, []string{id}, r.header.Values("X-Request-Id"), about...)
	assert.Equal(t, []string{"application/json"}, r.header.Values("Content-Type"), about...)
	assert.Equal(t, strings.ReplaceAll(body, `"R"`, `"`+id+`"`), r.body, about...)
}

// inMessages and inChoices are error bodies of the two families. inChoices
// takes param and code as JSON.
func inMessages(kind, message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":"%s","message":"%s"},"request_id":"R"}`, kind, message)
}

func inChoices(kind, message, param, code string) string {
	return fmt.Sprintf(`{"error":{"message":"%s","type":"%s","param":%s,"code":%s}}`, message, kind, param, code)
}

package sockets

import (
	"bytes"
	"context"
	"net/http"
	"strconv"

	"github.com/coder/websocket"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// writer is the ResponseWriter of a request: it sends each event of a stream as a message, and an
// answer with an error status as one message. It has no lock: the sink has one.
type writer struct {
	ctx    context.Context
	client *websocket.Conn
	closed func() exchange.SocketClosed // of the provider
	stream string                       // "" for the unnamed one

	header http.Header
	status int
	lexer  *sse.Lexer // of a stream
	body   []byte     // of an error
	err    error      // the client is gone
}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// FlushError lets an http.ResponseController flush. Messages are sent at once.
func (w *writer) FlushError() error { return w.err }

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	if w.WriteHeader(http.StatusOK); w.status != http.StatusOK {
		w.body = append(w.body, p...)
		return len(p), nil
	}
	if w.lexer == nil {
		w.lexer = sse.NewLexer(maxEvent)
	}
	w.lexer.Feed(p)
	for event, ok := w.lexer.Next(); ok && w.err == nil; event, ok = w.lexer.Next() {
		if len(event.Data) > 0 && event.Data[0] == '{' { // comments and other ends of a stream have no use here
			w.send(event.Data)
		}
	}
	return len(p), w.err
}

// maxEvent is the largest event in bytes. The transport has the bound of the configuration.
const maxEvent = 1 << 30

// send sends a message, with the name of its stream.
func (w *writer) send(message []byte) {
	if w.stream != "" && jsonscan.MemberOf(message, "stream_id") == nil {
		named := jsonscan.AppendString([]byte(`{"stream_id":`), w.stream)
		message = append(append(named, ','), bytes.TrimLeft(message[1:], " ")...)
	}
	w.err = w.client.Write(w.ctx, websocket.MessageText, message)
}

// shownHeaders are the headers of an error that a message contains, with the names of clients.
var shownHeaders = [...][2]string{{"Retry-After", "retry-after"}, {"Retry-After-Ms", "retry-after-ms"}, {"X-Should-Retry", "x-should-retry"}, {"X-Request-Id", "x-request-id"}}

// finish sends the message of an error. Nothing is sent to a client that is gone, and none that the provider
// could not be reached if it has closed the WebSocket with a code: the client gets that.
func (w *writer) finish() {
	if w.status < http.StatusBadRequest || w.ctx.Err() != nil || w.err != nil || w.status == http.StatusBadGateway && w.closed().Code != 0 {
		return
	}
	reason := jsonscan.MemberOf(w.body, "error")
	if reason == nil {
		reason = []byte("null")
	}
	message := append([]byte(`{"type":"error","status":`), strconv.Itoa(w.status)...)
	message = append(append(message, `,"error":`...), reason...)
	separator := `,"headers":{`
	for _, name := range shownHeaders {
		if v := w.header.Get(name[0]); v != "" {
			message = jsonscan.AppendString(append(message, separator+`"`+name[1]+`":`...), v)
			separator = ","
		}
	}
	if separator == "," {
		message = append(message, '}')
	}
	w.send(append(message, '}'))
}

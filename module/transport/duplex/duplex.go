// Package duplex sends requests on a WebSocket, whose messages are the events of the answers.
//
// It promises that an answer reads as one by HTTP: a stream of events, or an error status with a
// body; that a provider which sends faster than the answers are read is slowed; and that one message
// is in memory at a time. It refuses answers that are not text.
package duplex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/exchange"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/internal/coding"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Conn implements exchange.SocketConn.
type Conn struct {
	ws    *websocket.Conn
	ctx   context.Context // ends with the connection, with an exchange.SocketClosed as its cause
	end   context.CancelCauseFunc
	limit int64
	leaks func(text []byte) bool
	other func(message []byte)
	all   func(message []byte, binary bool) // gets all messages, unchanged; nil for a socket with answers

	mu      sync.Mutex         // guards the fields below
	running map[string]*answer // by stream
	begun   []string           // the ids of the latest responses
}

// New returns the connection on a WebSocket whose messages have at most limit bytes. What leaks
// reports is for no client, unless it is a part of an answer, which is checked elsewhere.
func New(ws *websocket.Conn, limit int64, leaks func(text []byte) bool) *Conn {
	ctx, end := context.WithCancelCause(context.Background())
	ws.SetReadLimit(limit)
	return &Conn{ws: ws, ctx: ctx, end: end, limit: limit, leaks: leaks, running: make(map[string]*answer)}
}

// Listen implements exchange.SocketConn.
func (c *Conn) Listen(other func(message []byte)) {
	c.other = func(message []byte) {
		if !c.leaks(message) {
			other(message)
		}
	}
	go c.read()
}

// Relay implements exchange.SocketConn.
func (c *Conn) Relay(all func(message []byte, binary bool)) {
	c.all = func(message []byte, binary bool) {
		if !c.leaks(message) {
			all(message, binary)
		}
	}
	go c.read()
}

// Forward implements exchange.SocketConn.
func (c *Conn) Forward(ctx context.Context, message []byte, binary bool) error {
	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}
	return c.write(ctx, kind, bytes.NewReader(message))
}

// Done implements exchange.SocketConn.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Closed implements exchange.SocketConn.
func (c *Conn) Closed() (closed exchange.SocketClosed) {
	_ = errors.As(context.Cause(c.ctx), &closed)
	return closed
}

// Close implements exchange.SocketConn.
func (c *Conn) Close(closed exchange.SocketClosed) {
	if c.ctx.Err() == nil {
		c.end(closed)
		go closeWith(c.ws, closed) // which waits for the provider
	}
}

// closeWith closes a WebSocket as another one was closed.
func closeWith(ws *websocket.Conn, closed exchange.SocketClosed) {
	if closed.Code == 0 {
		_ = ws.CloseNow()
		return
	}
	_ = ws.Close(websocket.StatusCode(closed.Code), closed.Reason)
}

// maxBegun is the number of responses whose ids are kept: more than the provider keeps itself.
const maxBegun = 128

// Began implements exchange.SocketConn.
func (c *Conn) Began(response []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.begun, string(response))
}

// Send implements exchange.SocketConn.
func (c *Conn) Send(ctx context.Context, stream string, request io.Reader) (*http.Response, error) {
	a := &answer{conn: c, stream: stream, head: make(chan *http.Response, 1), closed: make(chan struct{})}
	a.close = sync.OnceFunc(func() { close(a.closed) })
	a.body, a.events = io.Pipe()
	if err := c.add(a); err != nil {
		return nil, err
	}
	err := c.write(ctx, websocket.MessageText, request)
	if err == nil {
		select {
		case head := <-a.head:
			context.AfterFunc(ctx, func() { _ = a.Close() }) // as a body of net/http
			return head, nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.ctx.Done():
			err = context.Cause(c.ctx)
		}
	}
	_ = a.Close()
	return nil, err
}

var errBusy = errors.New("the stream has a request already")

func (c *Conn) add(a *answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return context.Cause(c.ctx)
	case c.running[a.stream] != nil:
		return errBusy
	}
	c.running[a.stream] = a
	return nil
}

// remove reports whether the answer was running.
func (c *Conn) remove(a *answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.running[a.stream] == a
	if was {
		delete(c.running, a.stream)
	}
	return was
}

// write sends a request as one message. If it breaks off, the connection cannot be used any more.
func (c *Conn) write(ctx context.Context, kind websocket.MessageType, request io.Reader) error {
	w, err := c.ws.Writer(ctx, kind)
	if err == nil {
		_, err = io.Copy(w, request)
		err = errors.Join(err, w.Close())
	}
	if err != nil {
		return fmt.Errorf("sending message: %w", err)
	}
	return nil
}

// read reads messages until the connection ends.
func (c *Conn) read() {
	var err error
	for err == nil {
		err = c.next()
	}
	var frame websocket.CloseError
	var closed exchange.SocketClosed
	if errors.As(err, &frame) {
		closed.Code = int(frame.Code)
		if !c.leaks([]byte(frame.Reason)) {
			closed.Reason = frame.Reason
		}
	}
	c.end(closed)
	_ = c.ws.CloseNow()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.running {
		_ = a.events.CloseWithError(context.Cause(c.ctx))
	}
}

var errBinary = errors.New("the message is not text")

// The frame of an event in a stream.
const eventStart, eventEnd = "data: ", "\n\n"

// next reads a message, and hands it over as an event.
func (c *Conn) next() error {
	kind, message, err := c.ws.Reader(context.Background()) // the end of a context would break off the handshake of Close
	if err != nil {
		return err
	}
	binary := kind == websocket.MessageBinary
	if binary && c.all == nil {
		return errBinary
	}
	lease := exchange.NewLease()
	defer lease.Release()
	event, err := coding.ReadAll(lease.Buffer(), io.MultiReader(strings.NewReader(eventStart), message), -1, c.limit+int64(len(eventStart)))
	if err != nil {
		return fmt.Errorf("reading message: %w", err)
	}
	if c.all != nil {
		lease.Keep(event)
		c.all(event[len(eventStart):], binary)
		return nil
	}
	for i, b := range event { // white space in JSON, but the end of a line in a stream
		if b == '\n' || b == '\r' {
			event[i] = ' '
		}
	}
	event = append(event, eventEnd...)
	lease.Keep(event)
	c.deliver(event, event[len(eventStart):len(event)-len(eventEnd)])
	return nil
}

// deliver hands an event over to the answer to which its message belongs.
func (c *Conn) deliver(event, message []byte) {
	kind, stream := headOf(message)
	if kind != "error" && !strings.HasPrefix(kind, "response.") {
		c.other(message)
		return
	}
	switch a := c.answerTo(stream); {
	case a != nil:
		a.take(kind, event, message)
	case kind == "error":
		c.other(message)
	}
}

// headOf returns the type of a message, and its stream.
func headOf(message []byte) (kind, stream string) {
	for name, value := range jsonscan.Members(message) {
		switch string(name) {
		case "type":
			kind = jsonscan.TextOf(value)
		case "stream_id":
			stream = jsonscan.TextOf(value)
		}
		if kind != "" && stream != "" {
			break
		}
	}
	return kind, stream
}

func (c *Conn) answerTo(stream string) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running[stream]
}

// noteBegun keeps the id of the response of an event.
func (c *Conn) noteBegun(message []byte) {
	id := jsonscan.TextOf(jsonscan.MemberOf(jsonscan.MemberOf(message, "response"), "id"))
	if id == "" || len(id) > maxID {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.begun, id) {
		c.begun = append(c.begun[max(0, len(c.begun)-maxBegun+1):], id)
	}
}

const maxID = 256

// answer is the answer to a request. It is the body of its response.
type answer struct {
	conn   *Conn
	stream string
	head   chan *http.Response // gets the response
	begun  bool                // the response was sent
	closed chan struct{}       // closed by Close
	close  func()              // closes closed, once
	body   *io.PipeReader
	events *io.PipeWriter
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) { return a.body.Read(p) }

// Close implements io.Closer. It closes the connection if the provider may still send events.
func (a *answer) Close() error {
	defer a.close()
	if a.conn.remove(a) {
		a.conn.Close(exchange.SocketClosed{Code: int(websocket.StatusGoingAway)})
	}
	return a.body.Close()
}

// lastEvents are the types of the messages that end an answer.
var lastEvents = []string{"response.completed", "response.incomplete", "response.failed", "error"}

// take takes the next event of the answer.
func (a *answer) take(kind string, event, message []byte) {
	last := slices.Contains(lastEvents, kind)
	if last {
		a.conn.remove(a)
	}
	if kind == "response.created" || last {
		a.conn.noteBegun(message)
	}
	if !a.begun {
		a.begun = true
		if kind == "error" {
			a.head <- refusal(message)
			return
		}
		a.head <- &http.Response{
			StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1,
			Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: a,
		}
	}
	_, _ = a.events.Write(event) // which fails if nobody reads it any more
	if last {
		_ = a.events.Close()
		select {
		case <-a.closed: // so that the client has the end before the next message of the provider
		case <-a.conn.ctx.Done():
		}
	}
}

// refusal returns the answer with an error status that a message is.
func refusal(message []byte) *http.Response {
	status := 0
	h := http.Header{"Content-Type": {"application/json"}}
	for name, value := range jsonscan.Members(message) {
		switch string(name) {
		case "status", "status_code":
			status, _ = strconv.Atoi(string(value)) // 0 for no number
		case "headers":
			for name, value := range jsonscan.Members(value) {
				h.Set(string(name), jsonscan.TextOf(value))
			}
		}
	}
	if status < 400 || status > 599 {
		status = http.StatusBadGateway
	}
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(message)),
		Header: h, Body: io.NopCloser(bytes.NewReader(bytes.Clone(message))),
	}
}

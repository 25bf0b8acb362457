package gatewaytest

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo"
)

// Call is one request to a provider, to be answered by a Step.
type Call struct {
	http.ResponseWriter
	Request *http.Request // the body has not been read
	Engine  *demo.Engine
}

// Step answers one request, correctly or not.
type Step func(*Call)

// script contains the steps of the next requests.
type script struct {
	mu       sync.Mutex // guards both
	steps    []Step
	fallback Step
}

func (s *script) add(steps []Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

func (s *script) always(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = step
}

func (s *script) next() Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.steps) == 0 {
		return s.fallback
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return step
}

// Answer lets the engine answer.
func Answer() Step { return func(c *Call) { c.Engine.ServeHTTP(c.ResponseWriter, c.Request) } }

// Status answers with an error status and an error body in the format of the endpoint.
// headers are pairs of names and values.
func Status(status int, headers ...string) Step {
	return func(c *Call) {
		body := map[string]any{"error": map[string]any{
			"message": "scripted error", "type": "server_error", "param": nil, "code": nil,
		}}
		if strings.HasPrefix(c.Request.URL.Path, "/v1/messages") {
			body = map[string]any{"type": "error", "error": map[string]any{
				"type": "api_error", "message": "scripted error",
			}}
		}
		raw, _ := json.Marshal(body) // strings always encode
		Body(status, "application/json", raw, headers...)(c)
	}
}

// Body answers with these bytes. headers are pairs of names and values.
func Body(status int, contentType string, body []byte, headers ...string) Step {
	return func(c *Call) {
		c.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(headers); i += 2 {
			c.Header().Set(headers[i], headers[i+1])
		}
		c.WriteHeader(status)
		_, _ = c.Write(body) // the caller may have left
	}
}

// File answers 200 with the content of a file, which File reads at once.
func File(contentType, path string) Step {
	body, err := os.ReadFile(path)
	if err != nil {
		panic("reading a scripted answer: " + err.Error())
	}
	return Body(http.StatusOK, contentType, body)
}

// EventStream is the content type of streams.
const EventStream = "text/event-stream; charset=utf-8"

// Chunks answers 200, and flushes each chunk.
func Chunks(contentType string, chunks ...string) Step {
	return func(c *Call) {
		c.Header().Set("Content-Type", contentType)
		c.WriteHeader(http.StatusOK)
		c.flush()
		for _, chunk := range chunks {
			if _, err := c.Write([]byte(chunk)); err != nil {
				c.abort()
			}
			c.flush()
		}
	}
}

// Raw answers with bytes that need not be HTTP. The connection ends when the caller closes
// it or uses it again. Raw works only with HTTP/1.1.
func Raw(text string) Step {
	return func(c *Call) {
		conn, _, err := http.NewResponseController(c.ResponseWriter).Hijack()
		if err != nil {
			c.abort()
		}
		_, _ = io.WriteString(conn, text) // the caller may have left
		_, _ = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}
}

// More writes and flushes each chunk, as a later step of InOrder. It continues after the
// caller has left.
func More(chunks ...string) Step {
	return func(c *Call) {
		for _, chunk := range chunks {
			_, _ = c.Write([]byte(chunk))
			c.flush()
		}
	}
}

// pause is the pause of Paced. It is long enough for a caller to read each chunk
// separately.
const pause = 3 * time.Millisecond

// Paced answers 200, and flushes each chunk, with a pause after it.
func Paced(contentType string, chunks ...string) Step {
	return func(c *Call) {
		c.Header().Set("Content-Type", contentType)
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for _, chunk := range chunks {
			More(chunk)(c)
			select {
			case <-tick.C:
			case <-c.Request.Context().Done():
				return
			}
		}
	}
}

// Reset closes the connection with a TCP reset before any header. With HTTP/2, it resets
// the stream.
func Reset() Step { return (*Call).reset }

// HeadersThenReset sends the headers of a stream, and resets the connection.
func HeadersThenReset() Step {
	return func(c *Call) {
		c.startStream()
		c.reset()
	}
}

// HeadersThenClose sends the headers of a stream, and ends it properly, without an event.
func HeadersThenClose() Step { return (*Call).startStream }

// Stall sends nothing until the gate opens. Then, next answers.
func Stall(gate *Gate, next Step) Step {
	return func(c *Call) {
		c.wait(gate)
		next(c)
	}
}

// InOrder runs several steps for one call. Steps before the one that sends the status may
// only set headers or wait.
func InOrder(steps ...Step) Step {
	return func(c *Call) {
		for _, step := range steps {
			step(c)
		}
	}
}

// SetHeader sets a header of the answer that a later step of InOrder writes.
func SetHeader(name, value string) Step {
	return func(c *Call) { c.Header().Set(name, value) }
}

func (c *Call) startStream() {
	c.Header().Set("Content-Type", EventStream)
	c.WriteHeader(http.StatusOK)
	c.flush()
}

func (c *Call) flush() {
	_ = http.NewResponseController(c.ResponseWriter).Flush() // after an error, the next write fails, too
}

// wait waits at the gate, and aborts the answer if the caller leaves.
func (c *Call) wait(gate *Gate) {
	if !gate.pass(c.Request.Context()) {
		c.abort()
	}
}

// abort breaks the connection off with http.ErrAbortHandler.
func (c *Call) abort() { panic(http.ErrAbortHandler) }

func (c *Call) reset() {
	conn, _, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err != nil {
		c.abort()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

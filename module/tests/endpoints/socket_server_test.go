package endpoints_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/tests/site"
)

// lineVendor is a service of the responses format with WebSockets, as strict as the vendor's: it
// refuses what the vendor refuses, keeps responses for their connection alone, and answers the
// requests of a stream one after the other.
type lineVendor struct {
	URL string

	// Answer answers a request on a connection; nil for the usual answer.
	Answer func(ctx context.Context, c *line, request map[string]any)

	t       *testing.T
	mu      sync.Mutex
	refusal int           // the status of requests for a WebSocket, 0 for 101
	dialed  []http.Header // of the requests for WebSockets
	frames  []string      // of all connections
	last    int           // response
	ended   chan websocket.CloseError
}

// line is a connection to the vendor.
type line struct {
	*websocket.Conn
	vendor *lineVendor
	mu     sync.Mutex
	kept   []string        // ids of responses
	busy   map[string]bool // streams
}

// lineFile is the id of each file that the vendor stores.
const lineFile = "file-000000000000000000000001"

func startLines(t *testing.T) *lineVendor {
	v := &lineVendor{t: t, ended: make(chan websocket.CloseError, 100)}
	server := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(server.Close)
	v.URL = server.URL
	return v
}

func (v *lineVendor) serve(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.dialed = append(v.dialed, r.Header.Clone())
	refusal := v.refusal
	v.mu.Unlock()
	switch {
	case r.URL.Path == "/v1/files":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"`+lineFile+`","object":"file","purpose":"user_data"}`)
		return
	case r.URL.Path != "/v1/responses" || r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound, "no such path", nil, nil)
		return
	case r.Header.Get("Authorization") != "Bearer sk-up":
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided: sk-*", nil, "invalid_api_key")
		return
	case refusal != 0:
		w.Header().Set("Retry-After", "7")
		refuse(w, refusal, "try later", nil, nil)
		return
	}
	assert.Empty(v.t, r.Header["Sec-Websocket-Extensions"], "no compression is offered")
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	conn.SetReadLimit(64 << 20)
	c := &line{Conn: conn, vendor: v, busy: make(map[string]bool)}
	defer conn.CloseNow()
	for {
		kind, text, err := conn.Read(r.Context())
		if err != nil {
			v.ended <- websocket.CloseError{Code: websocket.CloseStatus(err)}
			return
		}
		assert.Equal(v.t, websocket.MessageText, kind)
		v.mu.Lock()
		v.frames = append(v.frames, string(text))
		v.mu.Unlock()
		var request map[string]any
		if !assert.NoError(v.t, json.Unmarshal(text, &request), "%s", text) {
			continue
		}
		stream, _ := request["stream_id"].(string)
		c.mu.Lock()
		assert.False(v.t, c.busy[stream], "a stream has one request at a time")
		c.busy[stream] = true
		c.mu.Unlock()
		go func() {
			if v.Answer != nil {
				v.Answer(r.Context(), c, request)
			} else {
				c.answer(r.Context(), request)
			}
			c.free(stream)
		}()
	}
}

func (c *line) free(stream string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, stream)
}

// begin checks a request, and returns the events of its answer. It returns nil if it has refused it.
func (c *line) begin(ctx context.Context, request map[string]any) []string {
	stream, _ := request["stream_id"].(string)
	previous, continues := request["previous_response_id"].(string)
	c.mu.Lock()
	known := slices.Contains(c.kept, previous)
	c.mu.Unlock()
	switch {
	case request["type"] != "response.create":
		c.fail(ctx, 400, "unknown_event", "unknown type", stream)
	case request["model"] != "gpt-real":
		c.fail(ctx, 404, "model_not_found", "no such model", stream)
	case continues && !known:
		c.fail(ctx, 400, "previous_response_not_found", "Previous response with id '"+previous+"' not found.", stream)
	default:
		c.vendor.mu.Lock()
		c.vendor.last++
		id := fmt.Sprintf("resp_%048x", c.vendor.last)
		c.vendor.mu.Unlock()
		c.mu.Lock()
		c.kept = append(c.kept, id)
		c.mu.Unlock()
		var events []string
		for _, event := range site.Streams[site.ResponsesPath] {
			_, data, _ := strings.Cut(strings.TrimSpace(event), "data: ")
			data = strings.ReplaceAll(data, `"resp_1"`, `"`+id+`"`)
			if stream != "" {
				data = `{"stream_id":"` + stream + `",` + data[1:]
			}
			events = append(events, data)
		}
		if request["generate"] == false {
			events = []string{events[0], noUsage.ReplaceAllString(events[len(events)-1], `"usage":null`)}
		}
		return events
	}
	return nil
}

var noUsage = regexp.MustCompile(`"usage":\{.*\d\}`)

func (c *line) answer(ctx context.Context, request map[string]any) {
	events := c.begin(ctx, request)
	for i, event := range events {
		if i == len(events)-1 { // the client may send its next request before Write returns
			stream, _ := request["stream_id"].(string)
			c.free(stream)
		}
		c.send(ctx, event)
	}
}

func (c *line) send(ctx context.Context, text string) {
	_ = c.Write(ctx, websocket.MessageText, []byte(text))
}

func (c *line) fail(ctx context.Context, status int, code, message, stream string) {
	event := map[string]any{"type": "error", "status": status, "error": map[string]any{"type": "invalid_request_error", "code": code, "message": message, "param": nil}}
	if stream != "" {
		event["stream_id"] = stream
	}
	text, _ := json.Marshal(event)
	c.free(stream)
	c.send(ctx, string(text))
}

func (v *lineVendor) refuse(status int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.refusal = status
}

func (v *lineVendor) received() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.frames)
}

func (v *lineVendor) dials() []http.Header {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.dialed)
}

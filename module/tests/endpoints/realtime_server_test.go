package endpoints_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
)

// voiceVendor is a service of the Realtime API, as strict as the vendor's: it refuses what the vendor
// refuses, and knows no message that the vendor does not know.
type voiceVendor struct {
	URL string

	// Done is what ends a response; nil for the usual event.
	Done func(id string) string

	t       *testing.T
	mu      sync.Mutex
	refusal int           // the status of requests for a WebSocket, 0 for 101
	dialed  []http.Header // of the requests for WebSockets
	frames  []string      // of all connections
	last    int           // response
	lines   []*websocket.Conn
}

// voiceUsage is the usage of each response, and of each transcript.
const (
	voiceUsage      = `{"total_tokens":150,"input_tokens":100,"output_tokens":50,"input_token_details":{"cached_tokens":40,"text_tokens":30,"audio_tokens":70,"image_tokens":0,"cached_tokens_details":{"text_tokens":10,"audio_tokens":30,"image_tokens":0}},"output_token_details":{"text_tokens":20,"audio_tokens":30}}`
	transcriptUsage = `{"type":"tokens","total_tokens":25,"input_tokens":20,"output_tokens":5,"input_token_details":{"text_tokens":0,"audio_tokens":20}}`
)

func startVoice(t *testing.T) *voiceVendor {
	v := &voiceVendor{t: t}
	server := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(server.Close)
	v.URL = server.URL
	return v
}

func (v *voiceVendor) serve(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.dialed = append(v.dialed, r.Header.Clone())
	refusal := v.refusal
	v.mu.Unlock()
	switch {
	case r.URL.Path != "/v1/realtime" || r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound, "no such path", nil, nil)
		return
	case r.Header.Get("Authorization") != "Bearer sk-up":
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided: sk-*", nil, "invalid_api_key")
		return
	case refusal != 0:
		w.Header().Set("Retry-After", "7")
		refuse(w, refusal, "try later", nil, nil)
		return
	case r.URL.RawQuery != "model=voice-real":
		refuse(w, http.StatusNotFound, "no such model: "+r.URL.RawQuery, nil, "model_not_found")
		return
	}
	assert.Empty(v.t, r.Header["Sec-Websocket-Extensions"], "no compression is offered")
	assert.Empty(v.t, r.Header["Sec-Websocket-Protocol"], "no subprotocol has a key")
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	conn.SetReadLimit(64 << 20)
	defer conn.CloseNow()
	v.mu.Lock()
	v.lines = append(v.lines, conn)
	v.mu.Unlock()
	v.send(conn, `{"type":"session.created","event_id":"event_1","session":{"type":"realtime","model":"voice-real"}}`)
	for {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		v.mu.Lock()
		v.frames = append(v.frames, string(text))
		v.mu.Unlock()
		v.take(conn, text)
	}
}

// take answers a message.
func (v *voiceVendor) take(conn *websocket.Conn, text []byte) {
	var m struct {
		Type    string
		Session struct{ Model string }
	}
	if !assert.NoError(v.t, json.Unmarshal(text, &m), "%s", text) {
		return
	}
	switch m.Type {
	case "session.update":
		assert.Contains(v.t, []string{"", "voice-real"}, m.Session.Model)
		v.send(conn, `{"type":"session.updated","event_id":"event_2","session":{"type":"realtime","model":"voice-real"}}`)
	case "response.create":
		v.respond(conn)
	case "input_audio_buffer.commit": // as if a turn of the client had been detected
		v.send(conn, `{"type":"input_audio_buffer.committed","event_id":"event_3","item_id":"item_1"}`)
		v.respond(conn)
		v.send(conn, `{"type":"conversation.item.input_audio_transcription.completed","event_id":"event_4","item_id":"item_1","content_index":0,"transcript":"Hello","usage":`+transcriptUsage+`}`)
	case "input_audio_buffer.append", "conversation.item.create":
	default:
		assert.Fail(v.t, "an unknown message", "%s", text)
	}
}

func (v *voiceVendor) respond(conn *websocket.Conn) {
	v.mu.Lock()
	v.last++
	id := fmt.Sprintf("resp_%d", v.last)
	v.mu.Unlock()
	v.send(conn, `{"type":"response.created","event_id":"event_5","response":{"object":"realtime.response","id":"`+id+`","status":"in_progress","usage":null}}`)
	v.send(conn, `{"type":"response.output_audio.delta","event_id":"event_6","response_id":"`+id+`","item_id":"item_2","output_index":0,"content_index":0,"delta":"UklGRg=="}`)
	if v.Done != nil {
		v.send(conn, v.Done(id))
		return
	}
	v.send(conn, voiceDone(id, "completed"))
}

func voiceDone(id, status string) string {
	return `{"type":"response.done","event_id":"event_7","response":{"object":"realtime.response","id":"` + id + `","status":"` + status + `","usage":` + voiceUsage + `}}`
}

func (v *voiceVendor) send(conn *websocket.Conn, text string) {
	_ = conn.Write(context.Background(), websocket.MessageText, []byte(text))
}

func (v *voiceVendor) received() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string{}, v.frames...)
}

func (v *voiceVendor) dials() []http.Header {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]http.Header{}, v.dialed...)
}

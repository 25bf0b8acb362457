package endpoints_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
)

// liveVendor is a service of the Live API of Gemini, as strict as the vendor's: it refuses with close
// codes what the vendor refuses, sends binary messages of several lines, and knows no member that the
// vendor does not know.
type liveVendor struct {
	URL string

	t       *testing.T
	mu      sync.Mutex
	dialed  []string // the paths of the requests for WebSockets
	frames  []string // of all connections
	handles []string // of sessions, by the key of the account and a number
}

// liveUsage is the usage of each turn.
const liveUsage = `{"promptTokenCount":100,"responseTokenCount":50,"totalTokenCount":150,"promptTokensDetails":[{"modality":"TEXT","tokenCount":30},{"modality":"AUDIO","tokenCount":70}],"responseTokensDetails":[{"modality":"AUDIO","tokenCount":50}]}`

func startLive(t *testing.T) *liveVendor {
	v := &liveVendor{t: t}
	server := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(server.Close)
	v.URL = server.URL
	return v
}

func (v *liveVendor) serve(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Goog-Api-Key")
	v.mu.Lock()
	v.dialed = append(v.dialed, key+" "+r.URL.String())
	v.mu.Unlock()
	if r.URL.Path == "/upload/v1beta/files" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"file":{"name":"files/f01","uri":"` + v.URL + `/v1beta/files/f01"}}`))
		return
	}
	if r.URL.Path != "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent" || !strings.HasPrefix(key, "up-") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	assert.Empty(v.t, r.URL.RawQuery, "the key of the client is not passed on")
	assert.Empty(v.t, r.Header["Authorization"])
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for set := false; ; set = true {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		v.mu.Lock()
		v.frames = append(v.frames, string(text))
		v.mu.Unlock()
		if code, reason := v.take(conn, key, text, set); code != 0 {
			_ = conn.Close(code, reason)
			return
		}
	}
}

// liveMessage is a message of a client.
type liveMessage struct {
	Setup *struct {
		Model             string
		GenerationConfig  json.RawMessage
		SystemInstruction json.RawMessage
		Tools             json.RawMessage
		SessionResumption *struct{ Handle string }
	}
	ClientContent *struct {
		Turns        json.RawMessage
		TurnComplete bool
	}
	RealtimeInput *struct{ Audio, Text json.RawMessage }
	ToolResponse  *struct{ FunctionResponses json.RawMessage }
}

// take answers a message. A code closes the connection.
func (v *liveVendor) take(conn *websocket.Conn, key string, text []byte, set bool) (code websocket.StatusCode, reason string) {
	var m liveMessage
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	switch err := strict.Decode(&m); {
	case err != nil:
		return websocket.StatusInvalidFramePayloadData, "Invalid JSON payload received. " + err.Error()
	case set != (m.Setup == nil):
		return websocket.StatusInvalidFramePayloadData, "setup must be the first message, and only the first"
	case m.Setup != nil && m.Setup.Model != "models/live-real":
		return websocket.StatusPolicyViolation, m.Setup.Model + " is not found"
	case m.Setup != nil:
		return v.setUp(conn, key, m.Setup.SessionResumption)
	case m.ClientContent != nil && m.ClientContent.TurnComplete:
		v.respond(conn, string(m.ClientContent.Turns))
	}
	return 0, ""
}

// setUp begins a session, or resumes the one of a handle.
func (v *liveVendor) setUp(conn *websocket.Conn, key string, resumed *struct{ Handle string }) (code websocket.StatusCode, reason string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if resumed != nil && resumed.Handle != "" && !slices.Contains(v.handles, resumed.Handle+" "+key) {
		return websocket.StatusPolicyViolation, "BidiGenerateContent session not found"
	}
	v.send(conn, "{\n  \"setupComplete\": {}\n}\n")
	if resumed != nil {
		handle := fmt.Sprintf("Cihz%d", len(v.handles))
		v.handles = append(v.handles, handle+" "+key)
		v.send(conn, `{"sessionResumptionUpdate":{"newHandle":"`+handle+`","resumable":true}}`)
	}
	return 0, ""
}

// respond generates a turn.
func (v *liveVendor) respond(conn *websocket.Conn, turns string) {
	switch {
	case strings.Contains(turns, "go away"):
		v.send(conn, `{"goAway":{"timeLeft":"50s"}}`)
		return
	case strings.Contains(turns, "call"):
		v.send(conn, `{"toolCall":{"functionCalls":[{"id":"f1","name":"look","args":{}}]}}`)
	}
	v.send(conn, `{"serverContent":{"modelTurn":{"parts":[{"inlineData":{"mimeType":"audio/pcm;rate=24000","data":"AAAA"}}]}}}`)
	if strings.Contains(turns, "break off") {
		_ = conn.Close(websocket.StatusInternalError, "Deadline expired before operation could complete.")
		return
	}
	if strings.Contains(turns, "search") {
		for range 2 { // a later message repeats the list
			v.send(conn, `{"serverContent":{"groundingMetadata":{"webSearchQueries":["a","b"]}}}`)
		}
	}
	v.send(conn, `{"serverContent":{"generationComplete":true}}`)
	v.send(conn, `{"serverContent":{"turnComplete":true},"usageMetadata":`+liveUsage+`}`)
}

func (v *liveVendor) send(conn *websocket.Conn, text string) {
	_ = conn.Write(v.t.Context(), websocket.MessageBinary, []byte(text))
}

func (v *liveVendor) received() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string{}, v.frames...)
}

// keys returns the keys of the requests for WebSockets.
func (v *liveVendor) keys() (all []string) {
	for _, dial := range v.dials() {
		if key, path, _ := strings.Cut(dial, " "); strings.HasPrefix(path, "/ws/") {
			all = append(all, key)
		}
	}
	return all
}

func (v *liveVendor) dials() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string{}, v.dialed...)
}

package endpoints_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// timedVendor is a service of the Live API of OpenAI, as strict as the vendor's: it refuses a parameter of
// the query, what is not a member of a session, and every message that it does not know. A commentary makes
// it do what its content names.
type timedVendor struct {
	URL string

	t      *testing.T
	mu     sync.Mutex
	dialed []string // the URLs of the requests for WebSockets
	frames []string // of all connections
	lasts  float64  // seconds of the session so far
}

func startTimed(t *testing.T) *timedVendor {
	v := &timedVendor{t: t}
	server := httptest.NewServer(http.HandlerFunc(v.serve))
	t.Cleanup(server.Close)
	v.URL = server.URL
	return v
}

func (v *timedVendor) serve(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.dialed = append(v.dialed, r.URL.String())
	v.mu.Unlock()
	switch {
	case r.URL.String() != "/v1/live/sessions" || r.Method != http.MethodGet:
		refuse(w, http.StatusNotFound, "no such path", nil, nil)
		return
	case r.Header.Get("Authorization") != "Bearer sk-up":
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided: sk-*", nil, "invalid_api_key")
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for started := false; ; started = true {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		v.mu.Lock()
		v.frames = append(v.frames, string(text))
		v.mu.Unlock()
		if !v.take(conn, text, started) {
			return
		}
	}
}

// timedMessage is a message of a client.
type timedMessage struct {
	Type         string          `json:"type"`
	EventID      *string         `json:"event_id"`
	Session      *timedSession   `json:"session"`
	Audio        string          `json:"audio"`
	Content      string          `json:"content"`
	DelegationID json.RawMessage `json:"delegation_id"`
	Item         json.RawMessage `json:"item"`
}

type timedSession struct {
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Store        bool            `json:"store"`
	Audio        json.RawMessage `json:"audio"`
	Client       json.RawMessage `json:"client"`
	Input        json.RawMessage `json:"input"`
	Triggers     json.RawMessage `json:"triggers"`
	Delegation   *struct {
		Type      string          `json:"type"`
		Responses json.RawMessage `json:"responses"`
		Decisions json.RawMessage `json:"decisions"`
	} `json:"delegation"`
}

// take answers a message. It returns false when the connection has ended.
func (v *timedVendor) take(conn *websocket.Conn, text []byte, started bool) bool {
	var m timedMessage
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	err := strict.Decode(&m)
	switch {
	case err != nil:
		return v.fail(conn, err.Error(), started)
	case started == (m.Type == "session.start"):
		return v.fail(conn, "session.start must be the first message, and only the first", started)
	case m.Type == "session.start" && (m.Session == nil || m.Session.Model != "live-real"):
		return v.fail(conn, "no such model", started)
	}
	switch m.Type {
	case "session.start":
		v.send(conn, `{"type":"session.started","event_id":"event_1","session":{"id":"live_1","model":"live-real","status":"active"}}`)
	case "session.update":
		v.send(conn, `{"type":"session.updated","event_id":"event_2","session":{"id":"live_1","model":"live-real"}}`)
	case "session.commentary.append":
		return v.act(conn, m.Content)
	case "session.close":
		v.send(conn, `{"type":"session.closed","event_id":"event_3","reason":"close_requested","session":{"id":"live_1"},"usage":{"seconds":`+v.lasting(2.5)+`}}`)
		_ = conn.Close(websocket.StatusNormalClosure, "")
		return false
	case "session.input_audio.append", "response.item.create", "response.create":
	default:
		return v.fail(conn, "unknown type", started)
	}
	return true
}

// act does what a commentary names.
func (v *timedVendor) act(conn *websocket.Conn, content string) bool {
	switch content {
	case "a minute":
		v.send(conn, `{"type":"session.usage.updated","event_id":"event_4","usage":{"seconds":`+v.lasting(60)+`},"context_window":{"usage_ratio":0.1}}`)
	case "a task":
		v.send(conn, `{"type":"session.delegation.created","event_id":"event_5","offset_ms":10,"delegation":{"id":"item_1","type":"delegation","target":"responses","response_id":"resp_1"}}`)
		for _, event := range []string{
			`{"type":"response.created","response":{"id":"resp_1"}}`, `{"type":"response.output_item.done","item":{"type":"web_search_call"}}`,
			`{"type":"response.completed","response":{"id":"resp_1","model":"thinker-2026-04-01","usage":{"input_tokens":100,"output_tokens":50,"total_tokens":150}}}`,
		} {
			v.send(conn, `{"type":"response.event","event_id":"event_6","delegation_id":"item_1","event":`+event+`}`)
		}
	case "break off":
		_ = conn.Close(websocket.StatusInternalError, "x")
		return false
	}
	v.send(conn, `{"type":"session.commentary.appended","event_id":"event_7","start_ms":1,"end_ms":1}`)
	return true
}

// lasting returns the seconds of the session, with some more.
func (v *timedVendor) lasting(more float64) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.lasts += more
	return strconv.FormatFloat(v.lasts, 'f', -1, 64)
}

// fail sends an error, which ends a session that has not begun.
func (v *timedVendor) fail(conn *websocket.Conn, message string, started bool) bool {
	v.send(conn, `{"type":"error","event_id":"event_8","error":{"type":"invalid_request_error","code":"invalid_value","message":`+strconv.Quote(message)+`}}`)
	return started
}

func (v *timedVendor) send(conn *websocket.Conn, text string) {
	_ = conn.Write(v.t.Context(), websocket.MessageText, []byte(text))
}

func (v *timedVendor) received() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.frames, "\n")
}

func (v *timedVendor) dials() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string{}, v.dialed...)
}

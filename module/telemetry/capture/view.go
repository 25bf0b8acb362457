package capture

import (
	"encoding/base64"
	"time"
	"unicode/utf8"
)

// View is a capture in an answer. Times of its parts are in milliseconds since Started.
type View struct {
	Request  string         `json:"request"` // the id of the exchange
	Started  time.Time      `json:"started"`
	Ended    *time.Time     `json:"ended"`    // null while the exchange runs
	Exchange map[string]any `json:"exchange"` // null while the exchange runs
	Client   Sides          `json:"client"`
	Calls    []CallView     `json:"calls"` // of providers, in their order
}

// Sides are a request and its answer, null before it begins.
type Sides struct {
	Request *MessageView `json:"request"`
	Answer  *MessageView `json:"answer"`
}

// CallView is a call of a provider in an answer.
type CallView struct {
	Target
	Sides
}

// MessageView is a request or an answer.
type MessageView struct {
	Begun    int64       `json:"at_ms"`
	Method   string      `json:"method"` // "" for an answer
	Path     string      `json:"path"`   // without the host; "" for an answer
	Status   int         `json:"status"` // 0 for a request
	Headers  [][2]string `json:"headers"`
	Body     string      `json:"body"`
	Encoding string      `json:"encoding"` // "base64" if the body is no text
	Size     int64       `json:"size"`     // of the whole body, in bytes
	Cut      bool        `json:"cut"`      // Body is only the beginning
	Chunks   [][2]int64  `json:"chunks"`   // when each part was sent or received, and its bytes
}

// Head is a capture in a list.
type Head struct {
	Request string     `json:"request"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended"`
}

// Head returns the beginning of the view.
func (ex *Exchange) Head() Head {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return Head{ex.id, ex.start.UTC(), ex.end()}
}

// end returns when the exchange has ended, nil while it runs.
func (ex *Exchange) end() *time.Time {
	if ex.ended.IsZero() {
		return nil
	}
	return new(ex.ended.UTC())
}

// View returns the capture as it is now.
func (ex *Exchange) View() View {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	v := View{
		Request: ex.id, Started: ex.start.UTC(), Ended: ex.end(), Exchange: ex.summary,
		Client: Sides{ex.request.view(nil), ex.answer.view(nil)}, Calls: []CallView{},
	}
	for _, c := range ex.calls {
		v.Calls = append(v.Calls, CallView{c.Target, Sides{c.request.view(nil), c.answer.view(c.hide)}})
	}
	return v
}

// view returns the message as it is now, nil before it begins. The caller holds the lock.
func (m *message) view(hide func(int, []byte) []byte) *MessageView {
	if m.begun.IsZero() {
		return nil
	}
	v := &MessageView{
		Begun: m.since(m.begun), Method: m.method, Path: m.path, Status: m.status, Size: m.size,
		Headers: append([][2]string{}, m.headers...), Chunks: [][2]int64{},
	}
	for _, c := range m.chunks {
		v.Chunks = append(v.Chunks, [2]int64{m.since(c.moved), int64(c.size)})
	}
	body := m.body
	if v.Cut = m.size > int64(len(body)); v.Cut {
		body = body[:max(0, len(body)-longestSecret)] // the end may be a part of what hide removes
	}
	if hide != nil {
		body = hide(m.status, body)
	}
	for i := 0; v.Cut && i < utf8.UTFMax && len(body) > 0; i++ { // to the end of a whole character
		if r, size := utf8.DecodeLastRune(body); r != utf8.RuneError || size > 1 {
			break
		}
		body = body[:len(body)-1]
	}
	if v.Body = string(body); !utf8.Valid(body) {
		v.Body, v.Encoding = base64.StdEncoding.EncodeToString(body), "base64"
	}
	return v
}

// longestSecret is the length of the end that is left out of a body which is cut.
const longestSecret = 8 << 10

func (m *message) since(moment time.Time) int64 { return moment.Sub(m.exchange.start).Milliseconds() }

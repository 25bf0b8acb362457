package openai

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Format describes the answers of a format.
type Format struct {
	Answer, Chunk string          // the values of object
	Tiers         event.TierWords // the zero value for a format without service tiers
	// Of native answers.
	Deltas bool   // the content of a choice is in its member message or delta
	Empty  string // the members of an empty choice in its first chunk
	Last   string // the members of the last chunk of a choice, before the reason
}

// native contains the members around the choices of a native answer (see event.Native).
type native struct {
	head  []byte // of every chunk, each with a comma before it
	more  []byte // of the first chunk, each with a comma before it
	usage []byte // the value; nil for none
}

// maxHead bounds the members that every chunk repeats, in bytes. They are usually names of
// some ten bytes each.
const maxHead = 1024

var (
	errHead    = fmt.Errorf("an id, a model and the like of more than %d bytes", maxHead)
	errMessage = errors.New("two messages in one choice")
)

// writeNative writes the next event of a native answer as chunks: one with the whole
// content of a choice, one for each call, and one with the reason why the choice ended. It
// reports false, and does nothing, if the answer is not native.
func (m *Emitter) writeNative(e *event.Event) bool {
	switch {
	case m.native == nil && e.Kind == event.Native:
		m.readNative(e.Text)
	case m.native == nil:
		return false
	case e.Kind == event.Native:
		m.writeChoice(e.Choice, e.Text)
	case e.Kind == event.End:
		if m.Context.IncludeUsage && m.native.usage != nil {
			m.writeChunk("", m.native.usage)
		}
		m.Written = append(m.Written, "data: [DONE]\n\n"...)
	}
	return true
}

func (m *Emitter) readNative(answer []byte) {
	m.native = &native{}
	for name, value := range jsonscan.Members(answer) {
		member := jsonscan.AppendCompact([]byte(`,"`+string(name)+`":`), value)
		switch string(name) {
		case "choices", "object", "error": // other values, and no null that some clients take for an error
		case "id", "created", "model", "system_fingerprint", "service_tier":
			m.native.head = append(m.native.head, member...)
		case "usage":
			if string(value) != "null" {
				m.native.usage = jsonscan.AppendCompact(nil, value)
			}
		default:
			m.native.more = append(m.native.more, member...)
		}
	}
	if len(m.native.head) > maxHead {
		m.Fail(errHead)
	}
}

// The members of a choice, and of its message, that its first chunk does not have as they
// are.
var (
	besideMessage = event.Without{"index": "", "finish_reason": "", "stop_reason": "", "message": "", "delta": "", "text": ""}
	besideCalls   = event.Without{"role": "", "tool_calls": ""}
)

// writeChoice writes the chunks of a choice.
func (m *Emitter) writeChoice(index int, choice []byte) {
	head := `{"index":` + strconv.Itoa(index)
	first, last := event.AppendNative([]byte(head), choice, besideMessage), head+m.format.Last
	var message, text, calls []byte
	reason := noReason
	for name, value := range jsonscan.Members(choice) {
		switch string(name) {
		case "message", "delta":
			if message != nil {
				m.Fail(errMessage)
			}
			message = value
		case "text":
			if string(value) != "null" { // clients add texts up, and cannot add null
				text = value
			}
		case "finish_reason":
			reason = ""
			fallthrough
		case "stop_reason":
			last += `,"` + string(name) + `":` + string(jsonscan.AppendCompact(nil, value))
		}
	}
	if text != nil {
		first = jsonscan.AppendCompact(append(first, `,"text":`...), text)
	}
	switch {
	case m.format.Deltas && message != nil && message[0] == '{':
		role := []byte(`"assistant"`)
		for name, value := range jsonscan.Members(message) {
			switch {
			case string(name) == "role" && string(value) != "null":
				role = jsonscan.AppendCompact(nil, value)
			case string(name) == "tool_calls":
				calls = value
			}
		}
		first = append(append(first, `,"delta":{"role":`...), role...)
		first = append(event.AppendNative(first, message, besideCalls), '}')
	case m.format.Deltas || text == nil:
		first = append(first, m.format.Empty...)
	}
	m.writeChunk(string(first)+noReason, nil)
	m.writeCalls(head, calls)
	m.writeChunk(last+reason, nil)
}

const noReason = `,"finish_reason":null`

// writeCalls writes a chunk for each call of a list, with its position as the index.
func (m *Emitter) writeCalls(head string, calls []byte) {
	c := jsonscan.Again(calls)
	if calls == nil || !c.EnterArray() {
		return
	}
	for number := 0; c.Element(); {
		if call := c.Skip(); call[0] == '{' {
			members := event.AppendNative(nil, call, event.Without{"index": ""})
			m.writeChunk(head+`,"delta":{"tool_calls":[{"index":`+strconv.Itoa(number)+string(members)+`}]}`+noReason, nil)
			number++
		}
	}
}

// writeChunk writes a chunk with the members of a choice behind its opening brace, or with
// the raw usage and without a choice.
func (m *Emitter) writeChunk(choice string, usage []byte) {
	n := m.native
	data := append(append([]byte(`{"object":"`+m.format.Chunk+`"`), n.head...), n.more...)
	data = append(data, `,"choices":[`...)
	n.more = nil
	if usage == nil {
		data = append(append(data, choice...), '}')
		usage = []byte("null")
	}
	data = append(data, ']')
	if m.Context.IncludeUsage {
		data = append(append(data, `,"usage":`...), usage...)
	}
	m.Written = sse.AppendEvent(m.Written, "", append(data, '}'))
}

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
	format *Format
	counts bool   // the client has asked for the usage
	head   []byte // of every chunk, each with a comma before it
	more   []byte // of the first chunk, each with a comma before it
	usage  []byte // the value; nil for none
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
	var err error
	n := m.native
	switch {
	case n == nil && e.Kind == event.Native:
		m.native = &native{format: m.format, counts: m.Context.IncludeUsage}
		err = m.native.read(e.Text)
	case n == nil:
		return false
	case e.Kind == event.Native:
		m.Written, err = n.appendChoice(m.Written, e.Choice, e.Text)
	case e.Kind == event.End:
		if n.counts && n.usage != nil {
			m.Written = n.appendChunk(m.Written, "", n.usage)
		}
		m.Written = append(m.Written, "data: [DONE]\n\n"...)
	}
	if err != nil {
		m.Fail(err)
	}
	return true
}

// read keeps the members of an answer that its chunks have beside their choices.
func (n *native) read(answer []byte) error {
	for name, value := range jsonscan.Members(answer) {
		member := jsonscan.AppendCompact([]byte(`,"`+string(name)+`":`), value)
		switch string(name) {
		case "choices", "object", "error": // other values, and no null that some clients take for an error
		case "id", "created", "model", "system_fingerprint", "service_tier":
			n.head = append(n.head, member...)
		case "usage":
			if string(value) != "null" {
				n.usage = jsonscan.AppendCompact(nil, value)
			}
		default:
			n.more = append(n.more, member...)
		}
	}
	if len(n.head) > maxHead {
		return errHead
	}
	return nil
}

// The members of a choice, and of its message, that its first chunk does not have as they
// are.
var (
	besideMessage = event.Without{"index": "", "finish_reason": "", "stop_reason": "", "matched_stop": "", "message": "", "delta": "", "text": ""}
	besideCalls   = event.Without{"role": "", "tool_calls": ""}
)

// appendChoice appends the chunks of a choice.
func (n *native) appendChoice(dst []byte, index int, choice []byte) (chunks []byte, err error) {
	head := `{"index":` + strconv.Itoa(index)
	first, last := event.AppendNative([]byte(head), choice, besideMessage), head+n.format.Last
	var message, text, calls []byte
	reason := noReason
	for name, value := range jsonscan.Members(choice) {
		switch string(name) {
		case "message", "delta":
			if message != nil {
				err = errMessage
			}
			message = value
		case "text":
			if string(value) != "null" { // clients add texts up, and cannot add null
				text = value
			}
		case "finish_reason":
			reason = ""
			fallthrough
		case "stop_reason", "matched_stop":
			last += `,"` + string(name) + `":` + string(jsonscan.AppendCompact(nil, value))
		}
	}
	if text != nil {
		first = jsonscan.AppendCompact(append(first, `,"text":`...), text)
	}
	switch {
	case n.format.Deltas && message != nil && message[0] == '{':
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
	case n.format.Deltas || text == nil:
		first = append(first, n.format.Empty...)
	}
	dst = n.appendChunk(dst, string(first)+noReason, nil)
	dst = n.appendCalls(dst, head, calls)
	return n.appendChunk(dst, last+reason, nil), err
}

const noReason = `,"finish_reason":null`

// appendCalls appends a chunk for each call of a list, with its position as the index.
func (n *native) appendCalls(dst []byte, head string, calls []byte) []byte {
	c := jsonscan.Again(calls)
	if calls == nil || !c.EnterArray() {
		return dst
	}
	for number := 0; c.Element(); {
		if call := c.Skip(); call[0] == '{' {
			members := event.AppendNative(nil, call, event.Without{"index": ""})
			dst = n.appendChunk(dst, head+`,"delta":{"tool_calls":[{"index":`+strconv.Itoa(number)+string(members)+`}]}`+noReason, nil)
			number++
		}
	}
	return dst
}

// appendChunk appends a chunk with the members of a choice behind its opening brace, or with
// the raw usage and without a choice.
func (n *native) appendChunk(dst []byte, choice string, usage []byte) []byte {
	data := append(append([]byte(`{"object":"`+n.format.Chunk+`"`), n.head...), n.more...)
	data = append(data, `,"choices":[`...)
	n.more = nil
	if usage == nil {
		data = append(append(data, choice...), '}')
		usage = []byte("null")
	}
	data = append(data, ']')
	if n.counts {
		data = append(append(data, `,"usage":`...), usage...)
	}
	return sse.AppendEvent(dst, "", append(data, '}'))
}

package chat

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// patch is where the logprobs of the text chunk that was written last can still
// be put: they are told behind their text.
type patch struct{ choice, at int }

// open begins a chunk of one choice, up to the members of its delta.
func (m *Emitter) open(index int) {
	m.out = append(m.out, "data: "...)
	m.out = append(m.out, m.head...)
	m.out = append(m.out, `{"index":`...)
	m.out = strconv.AppendInt(m.out, int64(index), 10)
	m.out = append(m.out, `,"delta":{`...)
	m.patch.choice = index
}

// close ends a chunk that does not end its choice.
func (m *Emitter) close() { m.closeWith("null") }

// closeWith ends a chunk; the reason is a JSON value.
func (m *Emitter) closeWith(reason string) {
	m.out = append(m.out, `},"logprobs":`...)
	m.patch.at = len(m.out)
	m.out = append(m.out, `null,"finish_reason":`...)
	m.out = append(m.out, reason...)
	m.out = append(m.out, "}]"...)
	if m.memory.IncludeUsage {
		m.out = append(m.out, `,"usage":null`...)
	}
	m.out = append(m.out, "}\n\n"...)
}

// endStream writes the finish of every choice, the usage if the client asked
// for it, and the end.
func (m *Emitter) endStream() {
	for i := range m.choices {
		if c := &m.choices[i]; c.begun {
			m.finish(i, c)
		}
	}
	if m.memory.IncludeUsage {
		m.out = append(m.out, "data: "...)
		m.out = append(m.out, m.head...)
		m.out = append(m.out, `],"usage":`...)
		m.out = translate.AppendChoicesUsage(m.out, m.usage, m.memory)
		m.out = append(m.out, "}\n\n"...)
	}
	m.out = append(m.out, "data: [DONE]\n\n"...)
}

// finish writes why a choice ended; before that the sources of its text and, of a
// refusal without a word of the model, what the provider says of it.
func (m *Emitter) finish(index int, c *saying) {
	if c.explained() {
		m.fragment(index, `"refusal":"`, nil, c.explanation)
	}
	if len(c.annotations) > 0 {
		m.open(index)
		m.out = c.appendAnnotations(m.out)
		m.close()
	}
	m.open(index)
	m.closeWith(`"` + c.reason.Chat(c.called()) + `"`)
}

// explained reports whether the provider's explanation stands for the answer.
func (c *saying) explained() bool { return len(c.explanation) > 0 && !c.said && !c.refused }

// answer writes the JSON body.
func (m *Emitter) answer() {
	m.out = append(m.out, m.head...)
	first := true
	for i := range m.choices {
		c := &m.choices[i]
		if !c.begun {
			continue
		}
		if !first {
			m.out = append(m.out, ',')
		}
		first = false
		m.out = append(m.out, `{"index":`...)
		m.out = strconv.AppendInt(m.out, int64(i), 10)
		m.out = append(m.out, `,"message":`...)
		m.out = c.appendMessage(m.out)
		m.out = append(m.out, `,"logprobs":`...)
		m.out = appendLogprobs(m.out, c.logprobs)
		m.out = append(m.out, `,"finish_reason":"`+c.reason.Chat(c.called())+`"}`...)
	}
	m.out = append(m.out, `],"usage":`...)
	m.out = translate.AppendChoicesUsage(m.out, m.usage, m.memory)
	m.out = append(m.out, '}')
}

// appendMessage appends the message of a choice.
func (c *saying) appendMessage(dst []byte) []byte {
	dst = append(dst, `{"role":"assistant","content":`...)
	dst = appendText(dst, c.text, c.said || !c.called())
	dst = append(dst, `,"refusal":`...)
	if c.explained() {
		dst = jsonscan.AppendString(dst, c.explanation)
	} else {
		dst = appendText(dst, c.refusal, c.refused)
	}
	if len(c.annotations) > 0 {
		dst = c.appendAnnotations(append(dst, ','))
	}
	if c.thoughtful {
		dst = append(dst, `,"reasoning_content":`...)
		dst = appendText(dst, c.reasoning, true)
	}
	if len(c.blocks) > 0 {
		dst = append(dst, `,"thinking_blocks":[`...)
		dst = append(dst, c.blocks[1:]...)
		dst = append(dst, ']')
	}
	return append(c.appendCalls(dst), '}')
}

// appendText appends an escaped text, null where there is none.
func appendText(dst, text []byte, there bool) []byte {
	if !there {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

func (c *saying) appendCalls(dst []byte) []byte {
	if !c.called() {
		return dst
	}
	before := `,"tool_calls":[{`
	for i := range c.calls {
		if c.calls[i].known {
			dst = append(dst, before...)
			dst = c.calls[i].append(dst)
			before = ",{"
		}
	}
	return append(dst, ']')
}

// addLogprobs writes the log probabilities of the text before them: into its
// chunk of a stream, while that was not handed over, else into one of their own.
func (m *Emitter) addLogprobs(c *saying, e *translate.Event) {
	list := elements(e.Logprobs)
	if !m.memory.Logprobs || len(list) == 0 {
		return
	}
	if !m.memory.Stream {
		c.logprobs = append(append(c.logprobs, ','), list...)
		return
	}
	if m.patch.at == 0 || m.patch.choice != e.Choice {
		m.open(e.Choice)
		m.close()
	}
	at := m.patch.at
	rest := append([]byte(nil), m.out[at+len("null"):]...)
	m.out = appendLogprobs(m.out[:at], append([]byte{','}, list...))
	m.out = append(m.out, rest...)
	m.patch = patch{}
}

// elements are those of a raw array.
func elements(raw []byte) []byte {
	if len(raw) < len("[]") {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// appendLogprobs appends the object that holds a list whose elements have a
// comma before each, or null where there is none.
func appendLogprobs(dst, list []byte) []byte {
	if len(list) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"content":[`...)
	dst = append(dst, list[1:]...)
	return append(dst, `],"refusal":null}`...)
}

package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// open begins a chunk of one choice, up to the members of its delta.
func (m *Emitter) open(index int) {
	m.Begin(index)
	m.Out = append(m.Out, `"index":`...)
	m.Out = strconv.AppendInt(m.Out, int64(index), 10)
	m.Out = append(m.Out, `,"delta":{`...)
}

// close ends a chunk; reason is "" if its choice goes on.
func (m *Emitter) close(reason string) {
	m.Out = append(m.Out, '}')
	m.End(reason)
}

// endStream writes the finish of every choice, the usage if the client asked
// for it, and the end.
func (m *Emitter) endStream() {
	for i := range m.choices {
		if c := &m.choices[i]; c.begun {
			m.finish(i, c)
		}
	}
	m.EndStream()
}

// finish writes why a choice ended; before that the sources of its text and, of a
// refusal without a word of the model, what the provider says of it.
func (m *Emitter) finish(index int, c *saying) {
	if c.explained() {
		m.fragment(index, `"refusal":"`, nil, c.explanation)
	}
	if len(c.annotations) > 0 {
		m.open(index)
		m.Out = c.appendAnnotations(m.Out)
		m.close("")
	}
	m.open(index)
	m.close(choices.FinishReason(c.reason, c.called()))
}

// explained reports whether the provider's explanation stands for the answer.
func (c *saying) explained() bool { return len(c.explanation) > 0 && !c.said && !c.refused }

// writeChoice writes a choice of the JSON body.
func (m *Emitter) writeChoice(index int) bool {
	c := &m.choices[index]
	if !c.begun {
		return false
	}
	m.Out = append(m.Out, `{"index":`...)
	m.Out = strconv.AppendInt(m.Out, int64(index), 10)
	m.Out = c.appendMessage(append(m.Out, `,"message":`...))
	m.Out = appendLogprobs(append(m.Out, `,"logprobs":`...), c.logprobs)
	m.Out = choices.AppendReason(m.Out, choices.FinishReason(c.reason, c.called()))
	return true
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
func (m *Emitter) addLogprobs(c *saying, e *event.Event) {
	list := elements(e.Logprobs)
	if !m.Context.Logprobs || len(list) == 0 {
		return
	}
	if !m.Context.Stream {
		c.logprobs = append(append(c.logprobs, ','), list...)
		return
	}
	if !m.CanPatch(e.Choice) {
		m.open(e.Choice)
		m.close("")
	}
	m.Patch(appendLogprobs(nil, append([]byte{','}, list...)))
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

package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
)

// chunk writes a chunk with text of one choice; finish is "" if the choice goes on.
func (m *Emitter) chunk(index int, text []byte, finish string) {
	m.Begin(index)
	m.Out = append(m.Out, `"text":"`...)
	m.Out = jsonscan.AppendEscaped(m.Out, text)
	m.Out = append(m.Out, `","index":`...)
	m.Out = strconv.AppendInt(m.Out, int64(index), 10)
	m.End(finish)
}

// endStream writes the finish_reason of every choice, the usage if the client asked for
// it, and the end.
func (m *Emitter) endStream() {
	for i := range m.choices {
		if m.choices[i].begun {
			m.chunk(i, nil, m.choices[i].reason)
		}
	}
	m.EndStream()
}

// writeChoice writes a choice of the JSON body.
func (m *Emitter) writeChoice(index int) bool {
	c := &m.choices[index]
	if !c.begun {
		return false
	}
	m.Out = jsonscan.AppendString(append(m.Out, `{"text":`...), c.text)
	m.Out = append(m.Out, `,"index":`...)
	m.Out = strconv.AppendInt(m.Out, int64(index), 10)
	m.Out = c.logprobs.append(append(m.Out, `,"logprobs":`...), m.Context)
	m.Out = openai.AppendReason(m.Out, c.reason)
	return true
}

// logprobs writes the log probabilities of the preceding text. In a stream they belong
// to the chunk of the text, or to a chunk of their own if that one was already returned
// by Output.
func (m *Emitter) logprobs(e *event.Event) {
	if !m.Context.Logprobs.Asked {
		return
	}
	c := m.begin(e.Choice)
	if !m.Context.Stream {
		c.logprobs.add(e.Logprobs, m.Context)
		return
	}
	if !m.CanPatch(e.Choice) {
		m.chunk(e.Choice, nil, "")
	}
	of := legacy{offset: c.logprobs.offset}
	of.add(e.Logprobs, m.Context)
	c.logprobs.offset = of.offset
	m.Patch(of.append(nil, m.Context))
}

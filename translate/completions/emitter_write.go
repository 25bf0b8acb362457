package completions

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// chunk writes a chunk with text of one choice; a finish of "" is none.
func (m *Emitter) chunk(index int, text []byte, finish string) {
	m.out = append(m.out, "data: "...)
	m.out = append(m.out, m.head...)
	m.out = append(m.out, `{"text":"`...)
	m.out = jsonscan.AppendEscaped(m.out, text)
	m.out = append(m.out, `","index":`...)
	m.out = strconv.AppendInt(m.out, int64(index), 10)
	m.out = append(m.out, `,"logprobs":`...)
	m.patch = patch{index, len(m.out), len("null")}
	m.out = append(m.out, `null,"finish_reason":`...)
	m.out = appendReason(m.out, finish)
	m.out = append(m.out, "}]"...)
	if m.memory.IncludeUsage {
		m.out = append(m.out, `,"usage":null`...)
	}
	m.out = append(m.out, "}\n\n"...)
}

func appendReason(dst []byte, finish string) []byte {
	if finish == "" {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = append(dst, finish...)
	return append(dst, '"')
}

// endStream writes the finish of every choice, the usage if the client asked
// for it, and the end.
func (m *Emitter) endStream() {
	for i := range m.choices {
		if m.choices[i].begun {
			m.chunk(i, nil, m.choices[i].reason)
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
		m.out = append(m.out, `{"text":`...)
		m.out = jsonscan.AppendString(m.out, c.text)
		m.out = append(m.out, `,"index":`...)
		m.out = strconv.AppendInt(m.out, int64(i), 10)
		m.out = append(m.out, `,"logprobs":`...)
		m.out = c.logprobs.append(m.out, m.memory)
		m.out = append(m.out, `,"finish_reason":`...)
		m.out = appendReason(m.out, c.reason)
		m.out = append(m.out, '}')
	}
	m.out = append(m.out, `],"usage":`...)
	m.out = translate.AppendChoicesUsage(m.out, m.usage, m.memory)
	m.out = append(m.out, '}')
}

// logprobs writes the log probabilities of the text before them: into its chunk
// of a stream, while that was not handed over, else into one of their own.
func (m *Emitter) logprobs(e *translate.Event) {
	if !m.memory.Logprobs {
		return
	}
	c := m.begin(e.Choice)
	if !m.memory.Stream {
		c.logprobs.add(e.Logprobs, m.memory)
		return
	}
	if m.patch.at == 0 || m.patch.choice != e.Choice {
		m.chunk(e.Choice, nil, "")
	}
	of := legacy{offset: c.logprobs.offset}
	of.add(e.Logprobs, m.memory)
	c.logprobs.offset = of.offset
	rest := append([]byte(nil), m.out[m.patch.at+m.patch.size:]...)
	m.out = of.append(m.out[:m.patch.at], m.memory)
	m.out = append(m.out, rest...)
	m.patch = patch{}
}

package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// open begins a chunk of one choice, up to the members of its delta.
func (m *Emitter) open(index int) {
	m.Begin(index)
	m.Written = append(jsonscan.AppendCount(m.Written, `"index":`, int64(index)), `,"delta":{`...)
}

// close ends a chunk; reason is "" if its choice goes on.
func (m *Emitter) close(reason string) {
	m.Written = append(m.Written, '}')
	m.End(reason)
}

// Finish writes the reason why a choice ended: in a stream behind the explanation of a refusal
// without text and the sources of the text, in a JSON body with the whole choice.
func (m *Emitter) Finish(index int) bool {
	c := &m.choices[index]
	reason := openai.FinishReason(c.reason, len(c.calls) > 0)
	switch {
	case !c.begun:
		return false
	case !m.Context.Stream:
		m.Written = jsonscan.AppendCount(m.Written, `{"index":`, int64(index))
		m.Written = c.appendMessage(append(m.Written, `,"message":`...))
		m.Written = appendLogprobs(append(m.Written, `,"logprobs":`...), c.logprobs)
		m.Written = openai.AppendReason(m.Written, reason)
		return true
	case c.showsExplanation():
		m.fragment(index, &c.refusal, c.explanation)
	}
	if len(c.sources.list) > 0 {
		m.open(index)
		m.Written = c.sources.append(m.Written)
		m.close("")
	}
	m.open(index)
	m.close(reason)
	return true
}

// showsExplanation reports whether the provider's explanation becomes the text of the
// refusal, since the model gave none.
func (c *choice) showsExplanation() bool {
	return len(c.explanation) > 0 && !c.text.has && !c.refusal.has
}

// appendMessage appends the message of a choice.
func (c *choice) appendMessage(dst []byte) []byte {
	dst = appendText(append(dst, `{"role":"assistant","content":`...), c.text.all, c.text.has || len(c.calls) == 0)
	dst = append(dst, `,"refusal":`...)
	if c.showsExplanation() {
		dst = jsonscan.AppendString(dst, c.explanation)
	} else {
		dst = appendText(dst, c.refusal.all, c.refusal.has)
	}
	if len(c.sources.list) > 0 {
		dst = c.sources.append(append(dst, ','))
	}
	if c.reasoning.has {
		dst = appendText(append(dst, `,"reasoning_content":`...), c.reasoning.all, true)
	}
	if len(c.thinking.blocks) > 0 {
		dst = append(dst, `,"thinking_blocks":[`...)
		dst = append(dst, c.thinking.blocks[1:]...)
		dst = append(dst, ']')
	}
	return append(c.appendCalls(c.images.append(dst)), '}')
}

// appendText appends an escaped text, or null if the text is absent.
func appendText(dst, text []byte, present bool) []byte {
	if !present {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

func (c *choice) appendCalls(dst []byte) []byte {
	if len(c.calls) == 0 {
		return dst
	}
	separator := `,"tool_calls":[{`
	for i := range c.calls {
		if c.calls[i].known {
			dst = append(dst, separator...)
			dst = c.calls[i].append(dst)
			separator = ",{"
		}
	}
	return append(dst, ']')
}

// addLogprobs writes the log probabilities of the preceding text. In a stream they
// belong to the chunk of the text, or to a chunk of their own if that one was already
// returned by Output.
func (m *Emitter) addLogprobs(c *choice, e *event.Event) {
	if !m.Context.Logprobs.Asked || len(e.Logprobs) <= len("[]") {
		return
	}
	list := e.Logprobs[1 : len(e.Logprobs)-1]
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

// appendLogprobs appends the object with a list whose elements begin with a comma each,
// or null for an empty list.
func appendLogprobs(dst, list []byte) []byte {
	if len(list) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"content":[`...)
	dst = append(dst, list[1:]...)
	return append(dst, `],"refusal":null}`...)
}

// sources are the sources of the text of a choice. A stream contains all of them together at
// its end: accumulators of official SDKs cannot join lists without indexes.
type sources struct {
	list     []byte // annotations, each with a comma before it
	inserted int    // characters inserted between the texts of the provider
}

// add adds a source.
func (s *sources) add(source *event.Citation) {
	list := append(s.list, `,{"type":"url_citation","url_citation":{"url":`...)
	list = jsonscan.AppendString(list, source.URL)
	list = jsonscan.AppendString(append(list, `,"title":`...), source.Title)
	list = jsonscan.AppendCount(list, `,"start_index":`, int64(source.Start+s.inserted))
	list = jsonscan.AppendCount(list, `,"end_index":`, int64(source.End+s.inserted))
	s.list = append(list, "}}"...)
}

// append appends the member with the annotations, of which there is at least one.
func (s *sources) append(dst []byte) []byte {
	dst = append(dst, `"annotations":[`...)
	dst = append(dst, s.list[1:]...)
	return append(dst, ']')
}

package responses

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire/openai"
)

// event is the union of all events; each has some of the members.
type event struct {
	Type         string                 `json:"type"`
	Sequence     int                    `json:"sequence_number"`
	Response     *response              `json:"response,omitempty"`
	OutputIndex  *int                   `json:"output_index,omitempty"`
	Item         item                   `json:"item,omitempty"`
	ItemID       string                 `json:"item_id,omitempty"`
	ContentIndex *int                   `json:"content_index,omitempty"`
	SummaryIndex *int                   `json:"summary_index,omitempty"`
	Part         any                    `json:"part,omitempty"`
	Delta        *string                `json:"delta,omitempty"`
	Text         *string                `json:"text,omitempty"`
	Refusal      *string                `json:"refusal,omitempty"`
	Arguments    *string                `json:"arguments,omitempty"`
	Input        *string                `json:"input,omitempty"`
	Logprobs     *[]openai.TokenLogprob `json:"logprobs,omitempty"`
	Obfuscation  string                 `json:"obfuscation,omitempty"`
}

func named(kind wire.Kind, e event) wire.Event {
	return wire.Event{Kind: kind, Name: e.Type, Data: reply.Encode(e)}
}

// stream writes the events of one answer.
type stream struct {
	emit      func(wire.Event)
	obfuscate bool
	sequence  int       // of the next event
	index     int       // of the open item
	itemID    string    // of the open item
	closing   wire.Kind // of the events that close the open item
}

// Stream emits the events of the answer.
func (w *writer) Stream(a *reply.Answer, emit func(wire.Event)) {
	s := &stream{emit: emit, obfuscate: w.obfuscate}
	s.send(wire.Frame, event{Type: "response.created", Response: w.begun(a)})
	s.send(wire.Frame, event{Type: "response.in_progress", Response: w.begun(a)})
	last := w.ended(a)
	for i, item := range last.Output {
		s.item(item, i == len(last.Output)-1)
	}
	s.send(wire.Terminal, event{Type: "response." + last.Status, Response: last})
}

func (s *stream) send(kind wire.Kind, e event) {
	e.Sequence = s.sequence
	s.sequence++
	s.emit(named(kind, e))
}

// item emits an item. The events that close the last item have the kind Finish.
func (s *stream) item(i item, last bool) {
	s.itemID, s.closing = i.id(), wire.Frame
	if last {
		s.closing = wire.Finish
	}
	s.send(wire.Frame, event{Type: "response.output_item.added", OutputIndex: new(s.index), Item: i.announced()})
	i.stream(s)
	s.send(s.closing, event{Type: "response.output_item.done", OutputIndex: new(s.index), Item: i})
	s.index++
}

// inner emits an event within the open item.
func (s *stream) inner(kind wire.Kind, e event) {
	e.ItemID, e.OutputIndex = s.itemID, new(s.index)
	s.send(kind, e)
}

// obfuscation is the length to which deltas are padded, so that the length of an event does
// not reveal the length of its text.
const obfuscation = 16

// delta emits content.
func (s *stream) delta(e event, piece string) {
	e.Delta = &piece
	if s.obfuscate {
		e.Obfuscation = strings.Repeat("x", obfuscation-len(piece)%obfuscation)
	}
	s.inner(wire.Content, e)
}

func (r *reasoningItem) stream(s *stream) {
	for i, pieces := range r.pieces {
		closing := wire.Frame
		if i == len(r.pieces)-1 {
			closing = s.closing
		}
		s.summaryPart(i, pieces, r.Summary[i], closing)
	}
}

func (s *stream) summaryPart(index int, pieces []string, part summaryPart, closing wire.Kind) {
	at := func(name string) event {
		return event{Type: "response.reasoning_summary_" + name, SummaryIndex: &index}
	}
	begin, text, end := at("part.added"), at("text.done"), at("part.done")
	begin.Part, text.Text, end.Part = summaryPart{Type: part.Type}, &part.Text, part
	s.inner(wire.Frame, begin)
	for _, piece := range pieces {
		s.delta(at("text.delta"), piece)
	}
	s.inner(closing, text)
	s.inner(closing, end)
}

func (m *messageItem) stream(s *stream) {
	at := func(name string) event { return event{Type: "response." + name, ContentIndex: new(0)} }
	begin, end := at("content_part.added"), at("content_part.done")
	begin.Part, end.Part = m.part(nil), m.Content[0]
	s.inner(wire.Frame, begin)
	if m.refused {
		m.streamRefusal(s, at)
	} else {
		m.streamText(s, at)
	}
	s.inner(s.closing, end)
}

func (m *messageItem) streamText(s *stream, at func(string) event) {
	for _, piece := range m.pieces {
		delta := at("output_text.delta")
		delta.Logprobs = new(m.logprobs([]string{piece}))
		s.delta(delta, piece)
	}
	done := at("output_text.done")
	done.Text, done.Logprobs = new(strings.Join(m.pieces, "")), new(m.logprobs(m.pieces))
	s.inner(s.closing, done)
}

func (m *messageItem) streamRefusal(s *stream, at func(string) event) {
	for _, piece := range m.pieces {
		s.delta(at("refusal.delta"), piece)
	}
	done := at("refusal.done")
	done.Refusal = new(strings.Join(m.pieces, ""))
	s.inner(s.closing, done)
}

func (c *functionCall) stream(s *stream) {
	for _, piece := range c.pieces {
		s.delta(event{Type: "response.function_call_arguments.delta"}, piece)
	}
	s.inner(s.closing, event{Type: "response.function_call_arguments.done", Arguments: &c.Arguments})
}

func (c *customCall) stream(s *stream) {
	for _, piece := range c.pieces {
		s.delta(event{Type: "response.custom_tool_call_input.delta"}, piece)
	}
	s.inner(s.closing, event{Type: "response.custom_tool_call_input.done", Input: &c.Input})
}

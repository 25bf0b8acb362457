package messages

import (
	"encoding/json"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/wire"
)

// stream writes the events of one answer.
type stream struct {
	emit  func(wire.Event)
	index int // of the open block
}

// Stream emits the events of the answer.
func (w *writer) Stream(a *reply.Answer, emit func(wire.Event)) {
	st := &stream{emit: emit}
	s := &a.Samples[0]
	st.send(wire.Frame, "message_start", messageStart{"message_start", start(a)})
	st.send(wire.Frame, "ping", typed{"ping"})
	if s.Reasoning != nil {
		st.think(a, w.shown(s), w.shownPieces(s))
	}
	if len(s.Pieces) > 0 {
		st.say(s.Pieces)
	}
	for i := range s.Calls {
		st.call(&s.Calls[i])
	}
	st.finish(a, s)
}

// shownPieces returns the pieces of the reasoning that the answer shows.
func (w *writer) shownPieces(s *reply.Sample) []string {
	if w.hidden {
		return nil
	}
	return s.Reasoning
}

type typed struct {
	Type string `json:"type"`
}

type messageStart struct {
	Type    string  `json:"type"`
	Message message `json:"message"`
}

type blockStart struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Block any    `json:"content_block"`
}

type blockDelta struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
	Delta any    `json:"delta"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type textDelta struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type thinkingDelta struct {
	Type     string `json:"type"`
	Thinking string `json:"thinking"`
}

type signatureDelta struct {
	Type      string `json:"type"`
	Signature string `json:"signature"`
}

type inputDelta struct {
	Type    string `json:"type"`
	Partial string `json:"partial_json"`
}

type messageDelta struct {
	Type  string `json:"type"`
	Delta struct {
		StopReason   *string      `json:"stop_reason"`
		StopSequence *string      `json:"stop_sequence"`
		StopDetails  *stopDetails `json:"stop_details,omitempty"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

func (st *stream) send(kind wire.Kind, name string, v any) {
	st.emit(wire.Event{Kind: kind, Name: name, Data: reply.Encode(v)})
}

func (st *stream) open(block any) {
	st.send(wire.Frame, "content_block_start", blockStart{"content_block_start", st.index, block})
}

func (st *stream) delta(kind wire.Kind, delta any) {
	st.send(kind, "content_block_delta", blockDelta{"content_block_delta", st.index, delta})
}

func (st *stream) close() {
	st.send(wire.Frame, "content_block_stop", blockStop{"content_block_stop", st.index})
	st.index++
}

func (st *stream) think(a *reply.Answer, text string, pieces []string) {
	st.open(newThinking(a, "", ""))
	for _, piece := range pieces {
		st.delta(wire.Content, thinkingDelta{"thinking_delta", piece})
	}
	if !a.Faults.Has(reply.NoSignature) {
		st.delta(wire.Content, signatureDelta{"signature_delta", a.Sign(text)})
	}
	st.close()
}

func (st *stream) say(pieces []string) {
	st.open(textBlock{Type: "text"})
	for _, piece := range pieces {
		st.delta(wire.Content, textDelta{"text_delta", piece})
	}
	st.close()
}

// call writes a call. It begins with an empty fragment, as the public service does.
func (st *stream) call(c *reply.Call) {
	st.open(toolUseBlock{"tool_use", callID(c), c.Name, json.RawMessage("{}")})
	st.delta(wire.Frame, inputDelta{"input_json_delta", ""})
	for _, piece := range c.Pieces {
		st.delta(wire.Content, inputDelta{"input_json_delta", piece})
	}
	st.close()
}

func (st *stream) finish(a *reply.Answer, s *reply.Sample) {
	last := messageDelta{Type: "message_delta", Usage: newUsage(a)}
	last.Delta.StopReason, last.Delta.StopSequence = stopReason(s), wire.Optional(s.Matched)
	last.Delta.StopDetails = details(s)
	st.send(wire.Finish, "message_delta", last)
	st.send(wire.Terminal, "message_stop", typed{"message_stop"})
}

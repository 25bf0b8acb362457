package demo

import "encoding/json"

// messagesStream writes the events of the messages format.
type messagesStream struct {
	*stream
	a     *answer
	index int // of the open block
}

// streamMessages writes the whole stream.
func (s *stream) streamMessages(a *answer) {
	m := &messagesStream{stream: s, a: a}
	sample := &a.samples[0]
	m.send("message_start", messageStart{"message_start", a.messagesStart()})
	m.send("ping", typed{"ping"})
	if sample.thought != nil {
		m.think(sample.thought)
	}
	if len(sample.pieces) > 0 {
		m.say(sample.pieces)
	}
	for i := range sample.calls {
		m.call(&sample.calls[i])
	}
	m.finish(sample)
}

type typed struct {
	Type string `json:"type"`
}

type messageStart struct {
	Type    string         `json:"type"`
	Message messagesAnswer `json:"message"`
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
	Usage messagesUsage `json:"usage"`
}

func (m *messagesStream) open(block any) {
	m.send("content_block_start", blockStart{"content_block_start", m.index, block})
}

func (m *messagesStream) delta(delta any) {
	m.content("content_block_delta", blockDelta{"content_block_delta", m.index, delta})
}

func (m *messagesStream) close() {
	m.send("content_block_stop", blockStop{"content_block_stop", m.index})
	m.index++
}

func (m *messagesStream) think(t *thought) {
	m.open(m.a.thinkingBlock("", ""))
	if !m.a.hidden {
		for _, piece := range t.pieces {
			m.delta(thinkingDelta{"thinking_delta", piece})
		}
	}
	if !m.a.faults.noSignature {
		m.delta(signatureDelta{"signature_delta", t.signature})
	}
	m.close()
}

func (m *messagesStream) say(pieces []string) {
	m.open(textBlock{Type: "text"})
	for _, piece := range pieces {
		m.delta(textDelta{"text_delta", piece})
	}
	m.close()
}

// call begins with an empty fragment, as the public service does.
func (m *messagesStream) call(c *call) {
	m.open(toolUseBlock{"tool_use", c.id, c.name, json.RawMessage("{}")})
	m.send("content_block_delta", blockDelta{"content_block_delta", m.index, inputDelta{"input_json_delta", ""}})
	for _, piece := range c.pieces {
		m.delta(inputDelta{"input_json_delta", piece})
	}
	m.close()
}

func (m *messagesStream) finish(s *sample) {
	m.beforeFinish()
	if m.a.faults.noFinish {
		return
	}
	last := messageDelta{Type: "message_delta", Usage: m.a.messagesUsage()}
	last.Delta.StopReason, last.Delta.StopSequence = s.messagesStop(), optional(s.matched)
	last.Delta.StopDetails = s.details()
	m.send("message_delta", last)
	if !m.a.faults.noDone {
		m.send("message_stop", typed{"message_stop"})
	}
}

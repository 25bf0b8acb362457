package messages

import (
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
)

// Emitter writes core events as an answer of the format: a stream of events
// (wire format D.8) or one JSON body, whichever the client wants. Both are
// written by the same rules, so that they cannot tell different things.
//
// Exactly one block is open at any time: a sequencer keeps what must wait for its
// end, so that no delta ever follows the end of its block and indices have no
// gaps. It writes choice 0 alone: the format has no others.
type Emitter struct {
	translate.Dropped

	memory *translate.Memory
	ids    translate.IDs
	order  *translate.Sequencer
	out    writer
	fault  *translate.Fault

	started     bool
	usage       translate.Usage
	tier        translate.Tier
	reason      translate.FinishReason
	stop        []byte // the stop sequence that the provider named
	explanation []byte // why the provider refused

	open    blockKind // of the open block; unknownBlock for none
	part    int       // of the text or the reasoning that was written last
	signed  bool      // the open thinking block has its signature
	thought hash.Hash // over the text of the open thinking block

	call   toolCall // the open one
	called bool     // there is a call
	shown  translate.ToolIDs
}

// writer writes the steps of an answer. The emitter calls it by the format's
// grammar: start first, every block closed before the next, end last.
type writer interface {
	start(h *head)
	openText()
	openThinking()
	openTool(id, name []byte)
	text(fragment []byte)
	thinking(fragment []byte)
	signature(whole []byte)
	input(fragment []byte)
	redacted(data []byte)
	close()
	end(t *tail)
	output() []byte
	// streams reports whether fragments reach the client as they come.
	streams() bool
}

// head is what an answer begins with.
type head struct {
	id    string
	model []byte
	usage translate.Usage
	tier  translate.Tier
}

// tail is what an answer ends with.
type tail struct {
	reason      string
	stop        []byte // nil for none
	refused     bool
	explanation []byte
	usage       translate.Usage
	tier        translate.Tier
}

// NewEmitter returns an emitter of one answer to the request that the memory is
// of.
func NewEmitter(m *translate.Memory, ids translate.IDs) *Emitter {
	e := &Emitter{memory: m, ids: ids, out: &answerWriter{}}
	if m.Stream {
		e.out = &streamWriter{}
	}
	e.order = translate.NewSequencer(m.Room(), e.write)
	return e
}

// Output returns what was written since it was called last: of a JSON answer
// nothing before its end. It is valid until the next event.
func (m *Emitter) Output() []byte { return m.out.output() }

// Fault says why the events cannot be written, nil while they can.
func (m *Emitter) Fault() *translate.Fault { return m.fault }

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *translate.Event) {
	if m.fault != nil {
		return
	}
	if e.Choice != 0 {
		m.Drop("choices[*]")
		return
	}
	switch e.Kind {
	case translate.EventStart:
		m.start(e)
	case translate.EventFinish:
		m.reason = e.Finish
		m.stop = append(m.stop[:0], e.Stop...)
		m.explanation = append(m.explanation[:0], e.Text...)
	case translate.EventUsage:
		m.usage = *e.Usage
		if e.Tier != translate.TierUnknown {
			m.tier = e.Tier
		}
	case translate.EventEnd:
		m.end()
	case translate.EventLogprobs:
		m.Drop("choices[*].logprobs")
	case translate.EventSource:
		m.Drop("annotations")
	case translate.EventError:
	case translate.EventToolStart:
		if e.Custom {
			m.fault = translate.Unusable(errCustom)
			return
		}
		m.content(e)
	default:
		m.content(e)
	}
}

// start writes the beginning, once.
func (m *Emitter) start(e *translate.Event) {
	if m.started {
		return
	}
	m.started = true
	h := head{id: m.ids.Message, model: e.Model, tier: e.Tier}
	if len(h.model) == 0 {
		h.model = []byte(m.ids.Model)
	}
	if e.Usage != nil {
		h.usage = *e.Usage
	}
	m.tier = e.Tier
	if h.usage.TotalInput() == 0 {
		h.usage.Input = m.memory.InputEstimate
	}
	m.out.start(&h)
}

// content takes in an event that belongs to a block.
func (m *Emitter) content(e *translate.Event) {
	if !m.started {
		m.start(&translate.Event{})
	}
	m.order.Handle(e)
	if m.fault == nil {
		m.fault = m.order.Fault()
	}
}

// write writes an event that belongs to a block, when its place has come.
func (m *Emitter) write(e *translate.Event) {
	if m.fault != nil {
		return
	}
	switch e.Kind {
	case translate.EventText:
		m.text(e)
	case translate.EventTextEnd:
		m.endBlock(textBlock)
	case translate.EventReasoning:
		m.reasoning(e)
	case translate.EventSignature:
		m.sign(e)
	case translate.EventRedacted:
		m.redacted(e.Text)
	case translate.EventReasoningEnd:
		m.endBlock(thinkingBlock)
	case translate.EventToolStart:
		m.startTool(e)
	case translate.EventToolArgs:
		m.addArguments(e.Text)
	case translate.EventToolEnd:
		m.endBlock(toolUseBlock)
	}
}

// end closes what is open, in order, and writes the end.
func (m *Emitter) end() {
	if !m.started {
		m.start(&translate.Event{})
	}
	m.order.Flush()
	m.close()
	t := tail{
		reason:      m.reason.Messages(m.called),
		refused:     m.reason == translate.FinishFiltered || m.reason == translate.FinishRefused,
		explanation: m.explanation,
		usage:       m.usage,
		tier:        m.tier,
	}
	if t.reason == "end_turn" && len(m.stop) > 0 && slices.Contains(m.memory.Stops, string(m.stop)) {
		t.reason, t.stop = "stop_sequence", m.stop
	}
	m.out.end(&t)
}

// close closes the open block, if there is one.
func (m *Emitter) close() {
	switch m.open {
	case unknownBlock:
		return
	case thinkingBlock:
		if !m.signed {
			m.mint()
		}
	case toolUseBlock:
		m.endTool()
	}
	m.out.close()
	m.open = unknownBlock
}

// mint signs the open thinking block: clients do not send back thinking without
// a signature.
func (m *Emitter) mint() {
	var room [sha256.Size]byte
	digest := m.thought.Sum(room[:0])
	signature := append(make([]byte, 0, mintSize), seal.Mint...)
	m.out.signature(base64.RawURLEncoding.AppendEncode(signature, digest[:mintDigest]))
}

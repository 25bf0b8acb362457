package answer

import (
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/toolcall"
)

// Emitter writes core events as an answer of the format: a stream of events
// (wire format D.8) or one JSON body, whichever the client wants. The same code writes
// both, so that their content is the same.
//
// At most one block is open at any time: a sequencer holds back the events of other
// blocks until its end, so that no delta follows the end of its block and indexes have
// no gaps. Events of choices other than 0 are dropped: the format has one choice.
type Emitter struct {
	translate.Dropped

	context *translate.AnswerContext
	ids     translate.IDs
	order   *event.Sequencer
	out     writer
	fault   *fault.Fault

	started     bool
	usage       token.Usage
	tier        event.Tier
	reason      event.FinishReason
	stop        []byte // the stop sequence that the provider named
	explanation []byte // why the provider refused

	open   blockKind // of the open block; unknownBlock for none
	part   int       // of the text or the reasoning that was written last
	signed bool      // the open thinking block has its signature
	digest hash.Hash // of the text of the open thinking block

	call     toolCall // the open call
	hasCalls bool
	shown    toolcall.IDs
}

// writer writes the steps of an answer, in the order of the format: start first, every
// block closed before the next, end last.
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
	// streams reports whether fragments reach the client one by one.
	streams() bool
}

// head contains the members at the beginning of an answer.
type head struct {
	id    string
	model []byte
	usage token.Usage
	tier  event.Tier
}

// tail contains the members at the end of an answer.
type tail struct {
	reason      string
	stop        []byte // nil for none
	refused     bool
	explanation []byte
	usage       token.Usage
	tier        event.Tier
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(m *translate.AnswerContext, ids translate.IDs) *Emitter {
	e := &Emitter{context: m, ids: ids, out: &answerWriter{}}
	if m.Stream {
		e.out = &streamWriter{}
	}
	e.order = event.NewSequencer(m.Room(), e.write)
	return e
}

// Output returns the bytes written since the last call. For a JSON answer it returns
// nothing before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte { return m.out.output() }

// Fault returns the reason why the events cannot be written, or nil.
func (m *Emitter) Fault() *fault.Fault { return m.fault }

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *event.Event) {
	if m.fault != nil {
		return
	}
	if e.Choice != 0 {
		m.Drop("choices[*]")
		return
	}
	switch e.Kind {
	case event.Start:
		m.start(e)
	case event.Finish:
		m.reason = e.Finish
		m.stop = append(m.stop[:0], e.Stop...)
		m.explanation = append(m.explanation[:0], e.Text...)
	case event.Usage:
		m.usage = *e.Usage
		if e.Tier != event.TierUnknown {
			m.tier = e.Tier
		}
	case event.End:
		m.end()
	case event.Logprobs:
		m.Drop("choices[*].logprobs")
	case event.Source:
		m.Drop("annotations")
	case event.Error:
	case event.ToolStart:
		if e.Custom {
			m.fault = fault.Unusable(errCustom)
			return
		}
		m.content(e)
	default:
		m.content(e)
	}
}

// start writes the beginning, once.
func (m *Emitter) start(e *event.Event) {
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
		h.usage.Input = m.context.InputEstimate
	}
	m.out.start(&h)
}

// content handles an event that belongs to a block.
func (m *Emitter) content(e *event.Event) {
	if !m.started {
		m.start(&event.Event{})
	}
	m.order.Handle(e)
	if m.fault == nil {
		m.fault = m.order.Fault()
	}
}

// write writes an event that belongs to a block. The sequencer calls it in the order of
// the blocks.
func (m *Emitter) write(e *event.Event) {
	if m.fault != nil {
		return
	}
	switch e.Kind {
	case event.Text:
		m.text(e)
	case event.TextEnd:
		m.endBlock(textBlock)
	case event.Reasoning:
		m.reasoning(e)
	case event.Signature:
		m.sign(e)
	case event.Redacted:
		m.redacted(e.Text)
	case event.ReasoningEnd:
		m.endBlock(thinkingBlock)
	case event.ToolStart:
		m.startTool(e)
	case event.ToolArgs:
		m.addArguments(e.Text)
	case event.ToolEnd:
		m.endBlock(toolUseBlock)
	}
}

// end closes all blocks, in order, and writes the end.
func (m *Emitter) end() {
	if !m.started {
		m.start(&event.Event{})
	}
	m.order.Flush()
	m.close()
	t := tail{
		reason:      StopReason(m.reason, m.hasCalls),
		refused:     m.reason == event.FinishFiltered || m.reason == event.FinishRefused,
		explanation: m.explanation,
		usage:       m.usage,
		tier:        m.tier,
	}
	if t.reason == "end_turn" && len(m.stop) > 0 && slices.Contains(m.context.Stops, string(m.stop)) {
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
			m.selfSign()
		}
	case toolUseBlock:
		m.endTool()
	}
	m.out.close()
	m.open = unknownBlock
}

// selfSign signs the open thinking block: clients do not send back thinking without a
// signature.
func (m *Emitter) selfSign() {
	var room [sha256.Size]byte
	digest := m.digest.Sum(room[:0])
	signature := append(make([]byte, 0, seal.SelfSignedSize), seal.SelfSigned...)
	m.out.signature(base64.RawURLEncoding.AppendEncode(signature, digest[:seal.SelfSignedDigest]))
}

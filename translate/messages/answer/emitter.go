package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
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
	fault   *fault.Fault
	out     writer

	started  bool
	block    writtenBlock
	ending   ending // as far as it is known
	calls    toolcall.IDs
	hasCalls bool
	native   *native // nil unless the provider has the same format
}

// ending contains the members at the end of an answer.
type ending struct {
	reason      event.FinishReason
	stop        []byte // the stop sequence that the provider named
	explanation []byte // why the provider refused
	usage       token.Usage
	tier        event.Tier
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(m *translate.AnswerContext, ids translate.IDs) *Emitter {
	e := &Emitter{context: m, ids: ids, out: writer{stream: m.Stream}}
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
	switch {
	case e.Choice != 0:
		m.Drop("choices[*]")
		return
	case m.native != nil && (e.Kind == event.Source || e.Kind == event.Redacted):
		return // the block has it
	case e.Kind == event.ToolStart && e.Custom:
		m.fault = fault.Unusable(errCustom)
		return
	}
	switch e.Kind {
	case event.Start:
		m.start(e)
	case event.Finish:
		m.ending.reason = e.Finish
		m.ending.stop = append(m.ending.stop[:0], e.Stop...)
		m.ending.explanation = append(m.ending.explanation[:0], e.Text...)
	case event.Usage:
		m.ending.usage = *e.Usage
		if e.Tier != event.TierUnknown {
			m.ending.tier = e.Tier
		}
	case event.End:
		m.end()
	case event.Logprobs:
		m.Drop("choices[*].logprobs")
	case event.Source:
		m.Drop("annotations")
	case event.Error:
	case event.Native:
		if m.native == nil {
			m.startNative(e.Text)
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
	model := e.Model
	if len(model) == 0 {
		model = []byte(m.ids.Model)
	}
	var usage token.Usage
	if e.Usage != nil {
		usage = *e.Usage
	}
	m.ending.tier = e.Tier
	if usage.Input() == 0 {
		usage.Fresh = m.context.Input.Estimate
	}
	members := jsonscan.AppendString([]byte(`"id":`), m.ids.Message)
	members = append(members, `,"type":"message","role":"assistant","model":`...)
	m.out.start(jsonscan.AppendString(members, model), usage, e.Tier)
}

// content handles an event that belongs to a block.
func (m *Emitter) content(e *event.Event) {
	m.start(&event.Event{})
	m.order.Handle(e)
	if m.fault == nil {
		m.fault = m.order.Fault()
	}
}

// endOf contains the kinds of blocks that events end.
var endOf = [...]blockKind{event.TextEnd: textBlock, event.ReasoningEnd: thinkingBlock, event.ToolEnd: toolUseBlock}

// write writes an event that belongs to a block. The sequencer calls it in the order of
// the blocks.
func (m *Emitter) write(e *event.Event) {
	if m.fault != nil {
		return
	}
	switch e.Kind {
	case event.Text: // every part of a message becomes a block of its own
		if m.block.kind != textBlock || m.block.part != e.Part && m.native == nil {
			m.open(textBlock, e.Part, "")
		}
		m.out.fragment(e.Text)
	case event.Reasoning:
		m.reasoning(e)
	case event.Signature:
		m.sign(e)
	case event.Redacted: // has no deltas
		m.close()
		m.out.block(append(jsonscan.AppendString([]byte(`{"type":"redacted_thinking","data":`), e.Text), '}'))
	case event.ToolStart:
		m.startTool(e)
	case event.ToolArgs:
		m.addArguments(e.Text)
	case event.TextEnd, event.ReasoningEnd, event.ToolEnd:
		if m.block.kind == endOf[e.Kind] {
			m.close()
		}
	case event.Native:
		m.nextBlock(e.Text)
	}
}

// end closes the open block and writes the end.
func (m *Emitter) end() {
	m.start(&event.Event{})
	m.order.Flush()
	m.close()
	end := &m.ending
	reason := StopReason(end.reason, m.hasCalls)
	if reason == "end_turn" && len(end.stop) > 0 && slices.Contains(m.context.Cuts.Stops, string(end.stop)) {
		reason = "stop_sequence"
	} else {
		end.stop = nil
	}
	switch {
	case m.fault != nil: // the last of the waiting events cannot be written
	case m.native != nil:
		m.endNative()
	default:
		m.out.end(reason, end)
	}
}

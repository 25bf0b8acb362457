package answer

import (
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Emitter writes core events as an answer of the format: a stream of events
// (wire format D.8) or one JSON body, whichever the client wants. The same code writes
// both, so that their content is the same.
type Emitter struct {
	singleanswer.Emitter
	index  int // of the open block, or of the next one
	block  writtenBlock
	calls  toolcall.IDs
	native *native // nil unless the provider has the same format
}

// NewEmitter returns an emitter of one answer to the request of the answer context.
func NewEmitter(context *translate.AnswerContext, ids translate.IDs) *Emitter {
	m := &Emitter{}
	m.Init(m, context, ids)
	return m
}

// Start writes the beginning.
func (m *Emitter) Start(begin *singleanswer.Beginning) {
	if m.native != nil {
		return
	}
	if m.Context.Stream {
		m.Written = append(appendEventHead(m.Written, "message_start"), `,"message":`...)
	}
	m.Written = jsonscan.AppendString(append(m.Written, `{"id":`...), m.IDs.Message)
	m.Written = append(m.Written, `,"type":"message","role":"assistant","model":`...)
	m.Written = append(jsonscan.AppendString(m.Written, begin.Model), `,"content":[`...)
	if !m.Context.Stream {
		return
	}
	// All output is counted as answer here, since clients would keep a count of reasoning that
	// message_delta omits because it has become 0.
	usage := begin.Usage
	usage.Answer, usage.Reasoning = usage.Output(), 0
	m.Written = append(m.Written, `],"stop_reason":null,"stop_sequence":null,"usage":`...)
	m.Written = append(AppendUsage(m.Written, usage, begin.Tier), "}"+eventEnd...)
}

// endOf contains the kinds of blocks that events end.
var endOf = [...]blockKind{event.TextEnd: textBlock, event.ReasoningEnd: thinkingBlock, event.ToolEnd: toolUseBlock}

// lostBeside are the paths of what the format has no place for beside a text.
var lostBeside = [...]string{event.Source: "annotations", event.Logprobs: "choices[*].logprobs"}

// Write writes an event that belongs to a block. At most one block is open at any time, so that
// no delta follows the end of its block and indexes have no gaps.
func (m *Emitter) Write(e *event.Event) {
	switch e.Kind {
	case event.Text: // every part of a message becomes a block of its own
		if m.block.kind != textBlock || m.block.part != e.Part && m.native == nil {
			m.open(textBlock, e.Part, "")
		}
		m.Fragment(e.Text)
	case event.Reasoning:
		m.reasoning(e)
	case event.Signature:
		m.sign(e)
	case event.Redacted: // has no deltas
		if m.native == nil { // the block has it
			m.close()
			m.writeBlock(append(jsonscan.AppendString([]byte(`{"type":"redacted_thinking","data":`), e.Text), '}'))
		}
	case event.ToolStart:
		m.startTool(e)
	case event.ToolArgs:
		m.addArguments(e.Text)
	case event.TextEnd, event.ReasoningEnd, event.ToolEnd:
		if m.block.kind == endOf[e.Kind] {
			m.close()
		}
	case event.Native:
		if m.native == nil {
			m.startNative(e.Text)
		} else {
			m.nextBlock(e.Text)
		}
	case event.Source, event.Logprobs:
		if m.native == nil { // the block has it
			m.Drop(lostBeside[e.Kind])
		}
	}
}

// Finish closes the open block, and writes the reason why the turn ended, the usage, and the
// end.
func (m *Emitter) Finish(end *singleanswer.Ending) {
	m.close()
	if n := m.native; n != nil {
		m.Written = appendEvent(m.Written, "message_delta", `,"delta":{`, strings.TrimPrefix(string(n.stop), ","), "}", string(n.members), `,"usage":`, n.usage)
		m.Written = appendEvent(m.Written, "message_stop")
		return
	}
	reason := StopReason(end.Reason, end.HasCalls)
	if reason == "end_turn" && len(end.Stop) > 0 {
		reason = "stop_sequence"
	} else {
		end.Stop = nil
	}
	head, tail := "],", ""
	if m.Context.Stream {
		m.Written = appendEventHead(m.Written, "message_delta")
		head, tail = `,"delta":{`, "}"
	}
	m.Written = append(append(append(m.Written, head...), `"stop_reason":"`...), reason...)
	m.Written = jsonscan.AppendStringOrNull(append(m.Written, `","stop_sequence":`...), end.Stop)
	if end.Reason == event.FinishFiltered || end.Reason == event.FinishRefused {
		m.Written = append(m.Written, `,"stop_details":{"type":"refusal","category":null,"explanation":`...)
		m.Written = append(jsonscan.AppendStringOrNull(m.Written, end.Explanation), '}')
	} else {
		m.Written = append(m.Written, `,"stop_details":null`...)
	}
	m.Written = AppendUsage(append(append(m.Written, tail...), `,"usage":`...), end.Usage, end.Tier)
	if !m.Context.Stream {
		m.Written = append(m.Written, '}')
		return
	}
	m.Written = append(m.Written, eventEnd...)
	m.Written = appendEvent(m.Written, "message_stop")
}

// stopWords lists the values of stop_reason that are written. A paused turn has that of a
// bound: a client that continues a pause_turn sends the turn back as it is, and the services
// behind other formats do not continue it.
var stopWords = event.ReasonWords{
	event.FinishStop: "end_turn", event.FinishLength: "max_tokens", event.FinishTools: "tool_use", event.FinishFiltered: "refusal",
}

// StopReason returns the stop_reason for a reason of a turn with or without calls. The caller
// replaces end_turn by stop_sequence if it knows the sequence.
func StopReason(r event.FinishReason, calls bool) string { return stopWords.Of(r, calls) }

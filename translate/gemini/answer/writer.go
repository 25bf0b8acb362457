package answer

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// writer writes the core events of one candidate: a stream whose events are parts of the JSON
// answer, or the object of the candidate.
type writer struct {
	singleanswer.Emitter
	frame    frame
	last     fragment
	thinking thinking
	call     pendingCall
	extras   extras
}

// frame is what surrounds the parts of a candidate: in every event of a stream, and once in a
// JSON answer.
type frame struct {
	head, end, names string // end is that of the candidate, behind its parts; names that of the answer
	tail             string // end and names
	shapes           [thinkPart + 1]singleanswer.Shape
}

// shapeOf returns the shape of a part that has a text.
func (a *frame) shapeOf(end string) singleanswer.Shape {
	const begin = `{"text":"`
	return singleanswer.Shape{Head: begin, Tail: end, Event: a.head + begin, Close: end + a.tail}
}

// fragment is what was written last.
type fragment struct {
	kind partKind
	part int // the number of the text or thought, closedPart for one that has ended
}

const closedPart = -1

// partKind is the kind of a part.
type partKind uint8

const (
	noPart partKind = iota
	otherPart
	textPart
	thinkPart
)

func newWriter(index int, context *translate.AnswerContext, ids translate.IDs, calls *toolcall.IDs) *writer {
	m := &writer{frame: frame{end: `,"index":` + strconv.Itoa(index) + "}"}, call: pendingCall{ids: calls}}
	m.Init(m, context, ids)
	return m
}

// Start prepares what surrounds the parts, and writes the beginning of a candidate of a JSON
// answer.
func (m *writer) Start(begin *singleanswer.Beginning) {
	names := jsonscan.AppendString([]byte(`,"modelVersion":`), begin.Model)
	names = jsonscan.AppendString(append(names, `,"responseId":`...), m.IDs.Message)
	a := &m.frame
	a.head, a.names = `{"content":{"parts":[`, string(append(names, '}'))
	if m.Context.Stream {
		a.head, a.names = `data: {"candidates":[`+a.head, a.names+"\n\n"
	}
	a.tail = `],"role":"model"}` + a.end + "]" + a.names
	a.shapes[textPart], a.shapes[thinkPart] = a.shapeOf(`"}`), a.shapeOf(`","thought":true}`)
	if !m.Context.Stream {
		m.Written = append(m.Written, a.head...)
	}
}

// Write writes an event.
func (m *writer) Write(e *event.Event) {
	m.writeCall()
	switch e.Kind {
	case event.Text:
		m.text(textPart, e)
	case event.Reasoning:
		m.think(e)
	case event.Signature:
		m.sign(e)
	case event.Redacted:
		m.redacted(e.Text)
	case event.ReasoningEnd:
		m.endThought()
	case event.ToolStart:
		m.startCall(e)
	case event.ToolArgs:
		m.addArguments(e.Text)
	case event.ToolEnd:
		m.endCall()
	case event.Source:
		m.extras.cite(e.Source)
		m.Drop("annotations[*].start_index")
	case event.Logprobs:
		m.probabilities(e.Logprobs)
	case event.Inline:
		m.media(e.Media)
	}
}

// separator separates texts, and thoughts, that follow each other: clients join them.
var separator = []byte("\n\n")

// text writes a fragment of a text or a thought.
func (m *writer) text(kind partKind, e *event.Event) {
	m.Open(m.frame.shapes[kind])
	if m.last.kind == kind && m.last.part != e.Part {
		m.Fragment(separator)
	}
	m.last = fragment{kind: kind, part: e.Part}
	m.Fragment(e.Text)
}

// media writes media.
func (m *writer) media(media *event.Media) {
	if media.URL != nil {
		part := jsonscan.AppendString([]byte(`{"fileData":{"mimeType":`), media.Type)
		m.other(append(jsonscan.AppendString(append(part, `,"fileUri":`...), media.URL), "}}"...))
		return
	}
	part := jsonscan.AppendString([]byte(`{"inlineData":{"mimeType":`), media.Type)
	m.other(append(append(append(part, `,"data":"`...), media.Data...), `"}}`...))
}

// other writes a part that comes whole.
func (m *writer) other(part []byte) {
	m.Shut()
	m.last = fragment{kind: otherPart}
	if m.Context.Stream {
		m.Written = append(append(append(m.Written, m.frame.head...), part...), m.frame.tail...)
		return
	}
	m.Open(singleanswer.Shape{Head: string(part)})
	m.Shut()
}

// reasons are the words for the ends of turns.
var reasons = event.ReasonWords{
	event.FinishStop: "STOP", event.FinishLength: "MAX_TOKENS", event.FinishTools: "STOP",
	event.FinishFiltered: "SAFETY", event.FinishPaused: "OTHER",
}

// Finish writes the end: the reason, the usage, and what the answer has beside its parts. The
// last event of a stream has a part as well, since clients do not keep turns that have events
// without one.
func (m *writer) Finish(end *singleanswer.Ending) {
	m.endLastCall(end.Reason)
	seal := m.thinking.lastSeal(m.Context)
	switch {
	case m.Context.Stream:
		m.Written = append(append(m.Written, m.frame.head...), seal...)
	case m.last.kind == noPart || len(seal) > len(emptyPart):
		m.other(seal)
	}
	m.Shut()
	m.Written = append(append(m.Written, `],"role":"model"},"finishReason":"`...), reasons.Of(end.Reason, end.HasCalls)...)
	m.Written = append(m.Written, '"')
	if len(end.Explanation) > 0 {
		m.Written = jsonscan.AppendString(append(m.Written, `,"finishMessage":`...), end.Explanation)
	}
	m.Written = append(m.extras.append(m.Written), m.frame.end...)
	if m.Context.Stream {
		m.Written = append(appendUsage(append(m.Written, ']'), end.Usage, end.Tier), m.frame.names...)
	}
}

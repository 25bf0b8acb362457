package openai

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Writer is the part of an emitter that depends on the format. It writes choices, as chunks of
// a stream or into the JSON body, into Written of its Emitter.
type Writer interface {
	// Write writes an event from Start to Finish. No usage, no error and no end is among them.
	Write(*event.Event)
	// Close is called at the end of an answer, and returns the number of its choices, which is
	// at least 1.
	Close() int
	// Finish writes the last chunk of a choice, or the whole choice of a JSON body. It reports
	// whether there is a choice with the index.
	Finish(index int) bool
}

// Emitter writes the members around the choices of an answer: in every chunk of a
// stream, or in the one JSON body. The emitters of both formats embed it, call Init, and
// implement Writer.
type Emitter struct {
	translate.Dropped

	Context *translate.AnswerContext // of the request
	IDs     translate.IDs
	Written []byte // the bytes written since the last call of Output

	writer Writer
	format *Format
	usage  token.Usage
	prefix []byte // the beginning of every chunk and of the body; empty until Start
	whole  bool   // the JSON body is complete
	fault  *fault.Fault
	patch  patch
	native *native // nil unless the provider has the same format
}

// patch is the position in the last chunk where logprobs can still be inserted, since
// they follow their text. The zero patch is no position.
type patch struct{ choice, offset int }

// Separator separates the texts of an answer that become the one text of a choice.
var Separator = []byte("\n\n")

// Init prepares the emitter of one answer to the request of the answer context.
func (m *Emitter) Init(w Writer, f *Format, context *translate.AnswerContext, ids translate.IDs) {
	m.writer, m.format, m.Context, m.IDs = w, f, context, ids
}

// Handle writes the next core event. Errors are not written here.
func (m *Emitter) Handle(e *event.Event) {
	switch {
	case m.fault != nil || m.writeNative(e):
	case e.Kind == event.Usage:
		m.usage = *e.Usage
		m.addTier(e.Tier)
	case e.Kind == event.End:
		m.end()
	case e.Kind != event.Error:
		m.writer.Write(e)
	}
}

// Fault returns the reason why the events cannot be written, or nil.
func (m *Emitter) Fault() *fault.Fault { return m.fault }

// Fail ends the answer with a fault of the provider.
func (m *Emitter) Fail(cause error) { m.fault = fault.Unusable(cause) }

// Use makes the emitter write to memory, as far as that suffices.
func (m *Emitter) Use(memory []byte) { m.Written = memory[:0] }

// Output returns the bytes written since the last call. For a JSON answer it returns
// nothing before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte {
	m.patch = patch{}
	if !m.Context.Stream && !m.whole {
		return nil
	}
	written := m.Written
	m.Written = m.Written[:0]
	return written
}

// Start keeps the beginning of every chunk. Only the first call has an effect. Members
// that the start event lacks are filled in.
func (m *Emitter) Start(start *event.Event) {
	if len(m.prefix) > 0 {
		return
	}
	object, model, created := m.format.Answer, start.Model, start.Created
	if m.Context.Stream {
		object = m.format.Chunk
	}
	if len(model) == 0 {
		model = []byte(m.IDs.Model)
	}
	if created == 0 {
		created = m.IDs.Created
	}
	m.prefix = append(make([]byte, 0, 160+len(model)), `{"id":`...)
	m.prefix = append(jsonscan.AppendString(m.prefix, m.IDs.Message), `,"object":"`...)
	m.prefix = jsonscan.AppendCount(append(m.prefix, object...), `","created":`, created)
	m.prefix = jsonscan.AppendString(append(m.prefix, `,"model":`...), model)
	m.prefix = append(m.prefix, beforeChoices...)
	m.addTier(start.Tier)
}

const beforeChoices = `,"choices":[`

// addTier adds the service tier to the beginning of all later chunks, once. Some providers state
// it only at the end.
func (m *Emitter) addTier(tier event.Tier) {
	const member = `,"service_tier":"`
	word := m.format.Tiers[tier]
	if word == "" || len(m.prefix) == 0 || bytes.Contains(m.prefix, []byte(member)) {
		return
	}
	m.prefix = append(m.prefix[:len(m.prefix)-len(beforeChoices)], member+word+`"`+beforeChoices...)
}

// Begin begins a chunk with the choice of an index, whose members follow.
func (m *Emitter) Begin(index int) {
	m.patch.choice = index
	m.Written = append(append(append(m.Written, "data: "...), m.prefix...), '{')
}

// End ends the choice and its chunk. reason is "" if the choice goes on.
func (m *Emitter) End(reason string) {
	m.Written = append(m.Written, `,"logprobs":`...)
	m.patch.offset = len(m.Written)
	m.Written = AppendReason(append(m.Written, "null"...), reason)
	m.Written = append(m.Written, ']')
	if m.Context.IncludeUsage {
		m.Written = append(m.Written, `,"usage":null`...)
	}
	m.Written = append(m.Written, "}\n\n"...)
}

// AppendReason appends the finish_reason of a choice, and the end of the choice.
func AppendReason(dst []byte, reason string) []byte {
	dst = append(dst, `,"finish_reason":`...)
	if reason == "" {
		return append(dst, "null}"...)
	}
	return append(append(append(dst, '"'), reason...), `"}`...)
}

// CanPatch reports whether the last chunk is one of the choice and can still get its
// logprobs.
func (m *Emitter) CanPatch(index int) bool { return m.patch.offset > 0 && m.patch.choice == index }

// Patch inserts logprobs into the last chunk.
func (m *Emitter) Patch(logprobs []byte) {
	offset := m.patch.offset
	rest := append([]byte(nil), m.Written[offset+len("null"):]...)
	m.Written = append(append(m.Written[:offset], logprobs...), rest...)
	m.patch = patch{}
}

// end writes the end: that of every choice, the usage, for streams only if the client asked for
// it, and that of the answer.
func (m *Emitter) end() {
	choices := m.writer.Close()
	if m.Context.Stream {
		for i := range choices {
			m.writer.Finish(i)
		}
		if m.Context.IncludeUsage {
			m.Written = append(append(m.Written, "data: "...), m.prefix...)
			m.endBody()
			m.Written = append(m.Written, "\n\n"...)
		}
		m.Written = append(m.Written, "data: [DONE]\n\n"...)
		return
	}
	m.Written = append(m.Written, m.prefix...)
	for i := range choices {
		if m.writer.Finish(i) {
			m.Written = append(m.Written, ',')
		}
	}
	m.Written = m.Written[:len(m.Written)-len(",")]
	m.endBody()
	m.whole = true
}

func (m *Emitter) endBody() {
	m.Written = append(m.Written, `],"usage":`...)
	m.Written = AppendUsage(m.Written, m.usage, m.Context)
	m.Written = append(m.Written, '}')
}

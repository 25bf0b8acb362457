package openai

import (
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Emitter writes the members around the choices of an answer: in every chunk of a
// stream, or in the one JSON body. The emitters of both formats embed it.
type Emitter struct {
	translate.Dropped

	Context *translate.AnswerContext // of the request
	IDs     translate.IDs
	Usage   token.Usage
	Out     []byte // the bytes written since the last call of Output

	prefix []byte // the beginning of every chunk and of the body; empty until Start
	whole  bool   // the JSON body is complete
	fault  *fault.Fault
	patch  patch
	native *native // nil unless the provider has the same format
}

// patch is the position in the last chunk where logprobs can still be inserted, since
// they follow their text. The zero patch is no position.
type patch struct{ choice, at int }

// Separator separates the texts of an answer that become the one text of a choice.
var Separator = []byte("\n\n")

// Fault returns the reason why the events cannot be written, or nil.
func (m *Emitter) Fault() *fault.Fault { return m.fault }

// Fail ends the answer with a fault of the provider.
func (m *Emitter) Fail(cause error) { m.fault = fault.Unusable(cause) }

// Use makes the emitter write to memory, as far as that suffices.
func (m *Emitter) Use(memory []byte) { m.Out = memory[:0] }

// Output returns the bytes written since the last call. For a JSON answer it returns
// nothing before the end. The bytes are valid until the next event.
func (m *Emitter) Output() []byte {
	m.patch = patch{}
	if !m.Context.Stream && !m.whole {
		return nil
	}
	out := m.Out
	m.Out = m.Out[:0]
	return out
}

// Start keeps the beginning of every chunk. Only the first call has an effect. Members
// that the start event lacks are filled in. tier is "" for none.
func (m *Emitter) Start(object string, start *event.Event, tier string) {
	if len(m.prefix) > 0 {
		return
	}
	model, created := start.Model, start.Created
	if len(model) == 0 {
		model = []byte(m.IDs.Model)
	}
	if created == 0 {
		created = m.IDs.Created
	}
	m.prefix = jsonscan.AppendString(append(m.prefix, `{"id":`...), m.IDs.Message)
	m.prefix = strconv.AppendInt(append(m.prefix, `,"object":"`+object+`","created":`...), created, 10)
	m.prefix = jsonscan.AppendString(append(m.prefix, `,"model":`...), model)
	if tier != "" {
		m.prefix = append(m.prefix, `,"service_tier":"`+tier+`"`...)
	}
	m.prefix = append(m.prefix, `,"choices":[`...)
}

// Begin begins a chunk with the choice of an index, whose members follow.
func (m *Emitter) Begin(index int) {
	m.patch.choice = index
	m.Out = append(append(append(m.Out, "data: "...), m.prefix...), '{')
}

// End ends the choice and its chunk. reason is "" if the choice goes on.
func (m *Emitter) End(reason string) {
	m.Out = append(m.Out, `,"logprobs":`...)
	m.patch.at = len(m.Out)
	m.Out = AppendReason(append(m.Out, "null"...), reason)
	m.Out = append(m.Out, ']')
	if m.Context.IncludeUsage {
		m.Out = append(m.Out, `,"usage":null`...)
	}
	m.Out = append(m.Out, "}\n\n"...)
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
func (m *Emitter) CanPatch(index int) bool { return m.patch.at > 0 && m.patch.choice == index }

// Patch inserts logprobs into the last chunk.
func (m *Emitter) Patch(logprobs []byte) {
	at := m.patch.at
	rest := append([]byte(nil), m.Out[at+len("null"):]...)
	m.Out = append(append(m.Out[:at], logprobs...), rest...)
	m.patch = patch{}
}

// EndStream writes the usage, if the client asked for it, and the end.
func (m *Emitter) EndStream() {
	if m.Context.IncludeUsage {
		m.Out = append(append(m.Out, "data: "...), m.prefix...)
		m.endBody()
		m.Out = append(m.Out, "\n\n"...)
	}
	m.Out = append(m.Out, "data: [DONE]\n\n"...)
}

// WriteBody writes the JSON body of n choices. write writes the choice with an index,
// and reports whether there is one.
func (m *Emitter) WriteBody(n int, write func(index int) bool) {
	m.Out = append(m.Out, m.prefix...)
	for i := range n {
		if write(i) {
			m.Out = append(m.Out, ',')
		}
	}
	m.Out = m.Out[:len(m.Out)-len(",")] // there is always a choice 0
	m.endBody()
	m.whole = true
}

func (m *Emitter) endBody() {
	m.Out = append(m.Out, `],"usage":`...)
	m.Out = AppendUsage(m.Out, m.Usage, m.Context)
	m.Out = append(m.Out, '}')
}

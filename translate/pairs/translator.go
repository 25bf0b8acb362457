package pairs

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Translator translates the answer of a provider to the format of a client. The answer
// may be a stream or a JSON body, and is written as the kind that the client asked for:
// all four ways use the same core events.
//
// A Translator is for one answer and is not safe for concurrent use. Its output consists
// of whole events of a stream, or of one complete JSON answer. It contains no error: if
// the answer fails, Fault returns the reason, and the caller decides how to report it to
// the client.
type Translator struct {
	signal.Seen
	parser  format.Parser
	cutter  *cutter // nil if there are no stop texts
	emitter format.Emitter
	native  bool // the client has the provider's format
	context *translate.AnswerContext
	missing translate.Dropped
	made    made // of the content so far

	signals signal.Signal // of the current event
}

// NewTranslator returns a translator of one answer, from the provider's format
// to the client's. It panics if CanTranslate does not hold for their requests. A format is
// translated to itself if a JSON answer becomes a stream.
func NewTranslator(provider, client translate.Format, m *translate.AnswerContext, ids translate.IDs) *Translator {
	answers := &formats.Of(client).Answers
	t := newTranslator(provider, m, answers, answers.NewEmitter(m, ids))
	t.native = provider == client && m.Stream && answers.Native
	return t
}

func newTranslator(provider translate.Format, m *translate.AnswerContext, client *format.Answers, e format.Emitter) *Translator {
	newParser := formats.Of(provider).Answers.NewParser
	t := &Translator{
		emitter: e, made: made{answers: client, room: m.Room()}, context: m,
	}
	if len(m.Cuts.Enforced) == 0 && !m.Cuts.LeadingSpace {
		t.parser = newParser(t)
		return t
	}
	t.cutter = newCutter(t, m)
	t.parser = newParser(t.cutter)
	return t
}

// Event reads the next event of a stream and returns its meaning: Content from the
// first event with content on, Finish when all choices have a finish reason and only
// usage may follow, Terminal when the answer is complete, Failed when it never will be.
// Event does not keep the bytes of the event.
func (t *Translator) Event(e sse.Event) signal.Signal {
	t.signals = 0
	t.parser.Event(e)
	return t.signals
}

// Use makes the translator write its output to memory, as far as that suffices. It must be
// called before the answer is read.
func (t *Translator) Use(memory []byte) { t.emitter.Use(memory) }

// Answer reads a whole JSON answer of status 2xx. It returns a fault if the body is not
// an answer, or contains an error. What precedes the JSON, such as a byte order mark, is not
// copied to the client.
func (t *Translator) Answer(body []byte) *fault.Fault {
	t.parser.Answer(bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\ufeff")), " \t\r\n"))
	return t.Fault()
}

// End ends the stream. clean reports that the body ended after a whole event, or that the
// caller ended the call after Finish. A clean end completes an answer whose finish reason
// is known. Any other incomplete answer gets the fault Truncated.
func (t *Translator) End(clean bool) {
	t.signals = 0
	t.parser.End(clean)
}

// Output returns the bytes for the client written since the last call: whole events or,
// when the answer is complete, the JSON body. The bytes are valid until the next call of
// Event, Answer or End.
func (t *Translator) Output() []byte { return t.emitter.Output() }

// Continuation returns the state for continuing the stream between two events, nil if
// the client's format needs none.
func (t *Translator) Continuation() format.Continuation {
	c, _ := t.emitter.(format.Continuation)
	return c
}

// Losses returns the losses of the answer so far.
func (t *Translator) Losses() translate.Losses {
	if t.native {
		return t.emitter.Losses()
	}
	losses := slices.Clip(t.parser.Losses())
	losses.AddAll(t.emitter.Losses())
	losses.AddAll(t.missing.Losses())
	return losses
}

// Finished reports whether the answer is complete and was written to its end.
func (t *Translator) Finished() bool { return t.Closed && t.Fault() == nil }

const meaningful = 1<<event.Text | 1<<event.Reasoning | 1<<event.Signature |
	1<<event.Redacted | 1<<event.ToolStart | 1<<event.Inline | 1<<event.Finish

// Handle writes the next core event.
func (t *Translator) Handle(e *event.Event) {
	if t.Closed || e.Kind == event.Native && !t.native {
		return
	}
	switch {
	case e.Kind == event.Failing:
		t.signals |= signal.Failing
		return
	case e.Kind == event.Memo:
		t.context.Reasoning.Memory.Remember(e.ID, e.Raw)
		return
	case t.context.Reasoning.Foreign && (e.Kind == event.Signature || e.Kind == event.Redacted):
		t.missing.Drop("reasoning.signature")
		return
	case e.Kind == event.Inline && !t.native && !t.made.answers.Place(e):
		t.missing.DropContent(e.Media.Path)
		return
	}
	fault := t.note(e)
	if fault == nil {
		t.emitter.Handle(e)
		fault = t.emitter.Fault()
	}
	switch {
	case fault != nil:
		t.signals |= t.Fail(fault)
	case e.Kind == event.End:
		t.Closed = true
		t.signals |= signal.Terminal
	}
}

// maxModel is the length, in bytes, of the longest name of a model that is taken over
// from the provider: every chunk for a chat or completions client repeats the name.
const maxModel = 256

// note keeps the properties of the whole answer that an event contains. It returns why the
// answer fails, nil if it does not.
func (t *Translator) note(e *event.Event) *fault.Fault {
	if f := t.check(e); f != nil {
		return f
	}
	if meaningful>>e.Kind&1 != 0 {
		t.signals |= signal.Content
	}
	switch e.Kind {
	case event.Text, event.Reasoning, event.ToolArgs:
		t.Written.Add(e.Text)
	case event.Start:
		if len(e.Model) > maxModel {
			e.Model = nil // the emitter writes the requested name instead
		}
		t.ModelName = string(e.Model)
	case event.Signature:
		t.context.Seals.Remember(e.ID, e.Text)
	case event.ToolStart:
		return t.made.count(e)
	case event.TextEnd, event.ReasoningEnd, event.ToolEnd:
		t.signals |= signal.BlockEnd
	case event.Finish:
		t.Ended = e.Finish
		if t.parser.Finished(t.context.Asked()) || t.cutter.done() {
			t.signals |= signal.Finish
		}
		if t.context.Cuts.EndCall && t.cutter.done() {
			t.signals |= signal.Cut
		}
	case event.Usage:
		t.Used = *e.Usage
	case event.Error:
		return e.Fault
	case event.End:
		if t.parser.Choices() < t.context.Asked() { // many servers ignore n
			t.missing.Drop("choices")
		}
	}
	return nil
}

package pairs

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Translator writes the answer of a provider in the format of a client. The
// answer may come as a stream or as one JSON body, and is written as the one
// that the client asked for: both ways lead through the same core events.
//
// It is for one answer and one goroutine. What it hands out is whole: an event
// of a stream, or a JSON answer once all of it is known. It writes no error:
// Fault tells what became of an answer that failed, and Output ends in front of
// that, so that whoever writes to the client can still choose how to tell.
type Translator struct {
	parser  format.Parser
	cutter  *cutter // nil when there is nothing to cut
	emitter format.Emitter
	choices int // asked for in one call
	calls   toolCalls
	missing translate.Dropped

	signals  signal.Signal // of the event at hand
	usage    token.Usage
	model    string
	fault    *fault.Fault
	finished bool
}

// NewTranslator returns a translator of one answer, from the provider's format
// to the client's. It panics if CanTranslate does not hold for their requests.
func NewTranslator(from, to translate.Format, m *translate.AnswerContext, ids translate.IDs) *Translator {
	return newTranslator(from, m, formats.Of(to).Answers.NewEmitter(m, ids))
}

func newTranslator(from translate.Format, m *translate.AnswerContext, e format.Emitter) *Translator {
	newParser := formats.Of(from).Answers.NewParser
	t := &Translator{emitter: e, choices: max(1, m.Choices), calls: toolCalls{room: m.Room()}}
	if len(m.Enforce) == 0 && !m.LeadingSpace {
		t.parser = newParser(t)
		return t
	}
	t.cutter = newCutter(t, m)
	t.parser = newParser(t.cutter)
	return t
}

// Event reads the next event of a stream and says what it meant: Content from
// the first on that says something, Finish when all that was begun has told
// why it ended and only usage may follow, Terminal when the answer is complete,
// Failed when it is not and never will be. The bytes of the event are only read
// during the call.
func (t *Translator) Event(e sse.Event) signal.Signal {
	t.signals = 0
	t.parser.Event(e)
	return t.signals
}

// Answer reads a whole JSON answer of status 2xx. It returns the fault when
// that is none, or holds an error.
func (t *Translator) Answer(body []byte) *fault.Fault {
	t.parser.Answer(body)
	return t.fault
}

// End says that no event follows. A clean end is one at the end of the body,
// behind a whole event, or one that the caller made after Finish; it completes
// an answer that told why it ended. Any other answer that is not complete is
// cut off then: its fault is Truncated.
func (t *Translator) End(clean bool) {
	t.signals = 0
	t.parser.End(clean)
}

// Output returns the bytes for the client that were written since the last
// call: whole events, or, once the answer is complete, the JSON body. They are
// valid until the next call of Event, Answer or End.
func (t *Translator) Output() []byte { return t.emitter.Output() }

// Continuation returns what continues the stream between two events, nil if the
// client's format needs nothing of the kind.
func (t *Translator) Continuation() format.Continuation {
	c, _ := t.emitter.(format.Continuation)
	return c
}

// Usage is what the answer has said of usage so far.
func (t *Translator) Usage() token.Usage { return t.usage }

// Model is the model that the provider said it answered with, "" while unknown.
func (t *Translator) Model() string { return t.model }

// Losses are what of the answer could not be carried over so far.
func (t *Translator) Losses() translate.Losses {
	losses := slices.Clip(t.parser.Losses())
	losses.AddAll(t.emitter.Losses())
	losses.AddAll(t.missing.Losses())
	return losses
}

// Fault says why the answer failed, nil while it did not.
func (t *Translator) Fault() *fault.Fault { return t.fault }

// Finished reports whether the answer is complete and was written to its end.
func (t *Translator) Finished() bool { return t.finished }

const meaningful = 1<<event.Text | 1<<event.Reasoning | 1<<event.Signature |
	1<<event.Redacted | 1<<event.ToolStart | 1<<event.Finish

// Handle writes the next core event.
func (t *Translator) Handle(e *event.Event) {
	if t.fault != nil || t.finished {
		return
	}
	t.note(e)
	if t.fault == nil {
		t.emitter.Handle(e)
		t.fault = t.emitter.Fault()
	}
	switch {
	case t.fault != nil:
		t.signals |= signal.Failed
	case e.Kind == event.End:
		t.finished = true
		t.signals |= signal.Terminal
	}
}

// maxModel bounds the name of a model, in bytes, that is taken over from the
// provider: every chunk for a chat or completions client repeats it.
const maxModel = 256

// note keeps what the event says of the answer as a whole.
func (t *Translator) note(e *event.Event) {
	if meaningful>>e.Kind&1 != 0 {
		t.signals |= signal.Content
	}
	switch e.Kind {
	case event.Start:
		if len(e.Model) > maxModel {
			e.Model = nil // the name that was asked for stands in
		}
		t.model = string(e.Model)
	case event.ToolStart:
		t.fault = t.calls.add(e)
	case event.Finish:
		if t.parser.Finished(t.choices) || t.cutter.done() {
			t.signals |= signal.Finish
		}
	case event.Usage:
		t.usage = *e.Usage
	case event.Error:
		t.fault = e.Fault
	case event.End:
		if t.parser.Choices() < t.choices { // many servers do not know n
			t.missing.Drop("choices")
		}
	}
}

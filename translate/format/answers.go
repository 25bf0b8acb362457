package format

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Answers is how answers of a format are read and written.
type Answers struct {
	// NewObserver returns an observer of one stream.
	NewObserver func() signal.Observer
	// Inspect reads a whole JSON answer of status 2xx to the operation.
	Inspect func(body []byte, op translate.Operation) (signal.Answer, *fault.Fault)

	// TokenCount appends the answer to a request that only counts its input; nil for a
	// format without such requests.
	TokenCount func(dst []byte, tokens int64) []byte

	// NoLastEvent reports that no event ends a stream: it is complete if it ends behind the
	// reasons why all of its choices have ended.
	NoLastEvent bool

	// NewParser returns a parser of one answer.
	NewParser func(event.Handler) Parser
	// NewEmitter returns an emitter of one answer to the request of the answer context.
	NewEmitter func(*translate.AnswerContext, translate.IDs) Emitter
	// Native reports that the emitters write event.Native: if a JSON answer becomes a stream
	// of its own format, they write all of it. If it is false, such a stream has what the
	// core events contain, and the losses of the parser are reported.
	Native bool

	// NewOpening returns the writer of the events before an answer to a request that has
	// passed Inspect; nil for a format whose clients do not need such events.
	NewOpening func(body []byte, ids translate.IDs) Opening

	// Place reports whether answers have a place for a part of the content: a Text, a ToolStart
	// or an Inline.
	Place func(*event.Event) bool
	// Tiers are the words for service tiers. The zero value is for answers without one.
	Tiers event.TierWords

	// KeepAlive is what may be written between two events of a stream. It must not be
	// changed.
	KeepAlive []byte
	Usage     UsageEdits
}

// UsageEdits is what a provider is asked for, or may leave out, of the usage.
type UsageEdits struct {
	// Ask returns the edit by which the body of a request asks for the usage of the
	// stream, and Cut appends the edits that take the usage out of an event that
	// HasUsage. Both are nil for a format whose streams have the usage unasked.
	Ask func(body []byte, usage *translate.StreamUsage) edit.Edit
	Cut func(edits []edit.Edit, event []byte) []edit.Edit
	// Fill appends the edits that add to a JSON answer, or to an event that HasUsage,
	// the counts of usage that it lacks, as zeros; nil for a format that promises
	// none.
	Fill func(edits []edit.Edit, answer []byte) []edit.Edit
}

// Parser reads one answer into core events, which its handler gets. What follows the event
// End or Error has no effect.
type Parser interface {
	// Event reads the next event of a stream.
	Event(sse.Event)
	// Answer reads a whole JSON answer.
	Answer(body []byte)
	// End ends the body of a stream. If the end is clean and the answer complete, it also
	// ends the answer.
	End(clean bool)
	// Finished reports whether as many choices as were asked for, and all that were
	// begun, have a reason why they ended.
	Finished(choices int) bool
	// Choices returns how many choices were begun.
	Choices() int
	// Losses returns what of the answer the core events cannot express.
	Losses() translate.Losses
}

// Continuation writes what the gateway adds to a stream, where that depends on the
// events before it: they are numbered, or an event repeats what they hold. The
// observers and emitters of such a format implement it; Answers.KeepAlive and
// Errors.AppendEvent are for streams of which the client has no event yet.
type Continuation interface {
	// AppendKeepAlive appends what may be written behind the last event.
	AppendKeepAlive(dst []byte) []byte
	// AppendFailure appends the event that ends a stream which failed. Nothing may
	// follow it. ids are for a stream that has named no ids of its own.
	AppendFailure(dst []byte, ids translate.IDs, f *fault.Fault) []byte
}

// Opening writes the events of a stream to which no provider has answered yet, so that
// clients which measure silence by events wait for the answer. The answer continues them:
// its emitter has the same IDs, whose Begun returns Events.
type Opening interface {
	// AppendKeepAlive appends the beginning of the stream, and later an event that
	// changes nothing.
	AppendKeepAlive(dst []byte) []byte
	// AppendFailure appends the event that ends the stream, behind a beginning. Nothing
	// may follow it.
	AppendFailure(dst []byte, f *fault.Fault) []byte
	// Events returns the number of events that were appended.
	Events() int64
}

// Emitter writes core events for a client.
type Emitter interface {
	event.Handler
	// Use makes the emitter write to memory, as far as that suffices. It is called before
	// the first event.
	Use(memory []byte)
	// Output returns what was written since its last call. It is valid until the next
	// event.
	Output() []byte
	// Fault returns why the events cannot be written, nil while they can.
	Fault() *fault.Fault
	// Losses returns what of the events the client's format has no place for.
	Losses() translate.Losses
}

package signal

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Signal is a set of meanings of one event of a stream.
type Signal uint16

// The signals.
const (
	// Content marks an event by which an answer has begun: text, reasoning, a
	// signature, redacted thinking, a tool call or a finish. Start events, pings,
	// comments and empty deltas are not content.
	Content Signal = 1 << iota
	// Finish marks the end of the turn: a finish_reason of every choice so far, or a
	// stop_reason.
	Finish
	// Terminal marks the last event of the format, such as message_stop or [DONE].
	Terminal
	// UsageOnly marks a chunk with nothing but usage (choices: []). It is withheld from
	// a client that did not ask for it.
	UsageOnly
	// Failed marks an error event. Observer.Fault returns the error.
	Failed
	// HasUsage marks an event with a usage object, alone or beside content. The member
	// is withheld from a client that did not ask for it.
	HasUsage
	// Cut marks the text at which the gateway ends the answer, although the provider
	// continues it.
	Cut
	// BlockEnd marks the end of a content block or an output item. Either another one
	// follows, or the end of the turn.
	BlockEnd
	// Failing marks an error event behind which another one may state the reason. The answer
	// has failed, whatever follows.
	Failing
)

// Has reports whether s includes all of x.
func (s Signal) Has(x Signal) bool { return s&x == x }

// Observer reads the events of one stream without changing them. It is not safe for
// concurrent use.
type Observer interface {
	// Observe reads the next event. It keeps no slice of the event.
	Observe(sse.Event) Signal
	// Repeat reads the next events of a lexer while they differ from an event before them
	// only in their text, and returns their number. They have no signal but Content. All
	// other events, which the lexer returns, are for Observe.
	Repeat(*sse.Lexer) (events int)
	// Usage returns the usage reported so far.
	Usage() token.Usage
	// Text returns the size of the text in the events so far: of texts, reasoning and
	// arguments of tool calls.
	Text() token.Text
	// Model returns the name of the model in the answer, "" while unknown.
	Model() string
	// Reason returns why the turn ended, as far as the stream states it; of several choices,
	// why the last one did.
	Reason() event.FinishReason
	// Fault returns the error of an event that was Failed or Failing, and why a stream that
	// goes on to its end is no whole answer; else nil.
	Fault() *fault.Fault
}

// Answer is what the gateway needs to know of a JSON answer.
type Answer struct {
	Model string
	Usage token.Usage
	Ended event.FinishReason // why the turn ended; of several choices, why the last one did
	// Failed reports that the answer itself states a failure that clients may read: it is
	// relayed as it is if no other target answers.
	Failed bool
}

// Seen is what was read of a stream so far: by an Observer, or for a translation.
type Seen struct {
	Used      token.Usage        // what Usage returns
	ModelName string             // what Model returns
	Written   token.Text         // what Text returns
	Ended     event.FinishReason // what Reason returns
	Closed    bool               // all later events are ignored
	fault     *fault.Fault
}

// Usage returns the usage so far.
func (s *Seen) Usage() token.Usage { return s.Used }

// Text returns the size of the text so far.
func (s *Seen) Text() token.Text { return s.Written }

// Model returns the model that the stream names, "" while unknown.
func (s *Seen) Model() string { return s.ModelName }

// Reason returns why the turn ended, FinishUnknown before that.
func (s *Seen) Reason() event.FinishReason { return s.Ended }

// Fault returns the error of the stream, nil without one.
func (s *Seen) Fault() *fault.Fault { return s.fault }

// Fail ends the stream with an error.
func (s *Seen) Fail(f *fault.Fault) Signal {
	s.Closed, s.fault = true, f
	return Failed
}

// Observed is what an Observer has read of its stream, and by what it recognises the next events.
// Observers embed it.
type Observed struct {
	Seen
	Deltas sse.Template // of the last event with only a text
	Begun  bool         // content was seen
}

// Repeats reports whether Deltas recognises an event, and adds its text.
func (o *Observed) Repeats(e sse.Event) bool {
	text, _, ok := o.Deltas.Match(e.Name, e.Data)
	o.Written.AddValue(text)
	return ok
}

// Repeat implements Observer for the events that Deltas recognises.
func (o *Observed) Repeat(l *sse.Lexer) (events int) {
	for ; !o.Closed; events++ {
		text, ok := o.Deltas.Next(l)
		if !ok {
			break
		}
		o.Written.AddValue(text)
	}
	return events
}

// BreakOff notes that the provider has ended the answer as failed, by the word for its end. Before
// content, that is an error. Behind content the rest of the stream is relayed, since clients of
// the format know the word.
func (o *Observed) BreakOff(f *fault.Fault) Signal {
	if !o.Begun {
		return o.Fail(f)
	}
	o.fault = f
	return Finish
}

// Expect notes an error behind which another event may state the reason. Fail replaces it.
func (o *Observed) Expect(f *fault.Fault) Signal {
	o.fault = f
	return Failing
}

// Unreadable handles an event that is not of the format. After the first content, such
// events are relayed unchanged, and the client decides about them.
func (o *Observed) Unreadable(cause error) Signal {
	if o.Begun {
		return 0
	}
	return o.Fail(fault.Unusable(cause))
}

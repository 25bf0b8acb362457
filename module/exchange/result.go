package exchange

import (
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Result is the result of one call of an attempt. Only the transport writes it; for a call
// that has not reached the transport, the gateway does. It is final when the body of the
// answer is closed.
type Result struct {
	State   AnswerState
	Sent    bool               // the provider may have received a part of the request
	EndedBy event.FinishReason // why the turn of a whole answer ended, if the answer states it

	Reading Reading

	Fault  *fault.Fault // why there is no whole answer; nil without a failure, and if the client has disconnected
	Status int          // status of the provider, 0 before it answers
	Head   Head
	Times  Times
	Lane   Lane

	// Parts are the calls of a fan-out, with results of their own; nil for a single call.
	// What the provider has used is in the parts alone.
	Parts []Part

	Usage token.Usage // as reported so far, of all parts together; final in the state Finished
	Text  token.Text  // size of the text that was passed on so far; for a JSON answer that is relayed unchanged, of all of it
}

// Reading is how an answer was read.
type Reading struct {
	// Stopped reports that the gateway has ended the call of a whole answer at a stop text
	// that the provider does not know. The usage is unknown.
	Stopped bool

	// Unread reports that the client has left before the end of the stream. What follows
	// was read only for its usage.
	Unread bool

	// Cached reports that the cache of answers had the answer: no provider was asked.
	Cached bool

	// Lost reports that another call of the exchange had content first, and this one was cancelled.
	Lost bool

	ended bool // the call is among Course.Calls
}

// Head is what the provider reports about its answer.
type Head struct {
	Header     http.Header  // headers of the provider for the client: when to retry; rate limits, if the traits allow it
	RequestID  string       // id of the call at the provider
	AnsweredBy string       // model that the provider names in its answer
	Answer     *ErrorAnswer // the provider's error answer, if it may be relayed unchanged
	Stored
}

// Times are the times of the events of a call.
type Times struct {
	Called time.Time // when the request was sent; zero if it was not
	Began  time.Time // when the first content of a stream came; zero if none did
}

// Lane is what the way of an answer to the client reports: the byte lane or a translation.
type Lane struct {
	Losses  translate.Losses // fields that the translation of the request left out
	Dropped translate.Losses // parts that the translation of the answer left out

	// Appender writes the events that the gateway adds to the stream. It is nil for a
	// format whose added events do not depend on the stream.
	Appender Appender
}

// Stored is what the answer shows of an object that the provider stores.
type Stored struct {
	// Object is the id of what the provider goes on to generate after the answer, such as a
	// response in the background; empty if there is nothing.
	Object string
	Ended  *Ended // the object of the request, if its generation has ended
}

// Ended is the end of an object that was generated behind an earlier exchange.
type Ended struct {
	Usage  token.Usage
	Model  string       // that has answered
	Failed *fault.Fault // why nothing was generated; nil if something was

	Results    string // see translate.ObjectEnd
	Answered   int64  // see translate.ObjectEnd
	Unanswered translate.Unanswered
}

// Part is one of several calls that answer a request together. Its result is final when the
// result of the whole is.
type Part struct {
	Result *Result
	Share  float64 // of the length of all requests of the fan-out, from 0 to 1
}

// AnswerState is the progress of the answer to a call.
type AnswerState uint8

// The states of an answer, in the order in which they may follow each other.
const (
	Waiting   AnswerState = iota // no content yet
	Content                      // a stream has content
	Finishing                    // every choice of a translated stream has finished; only usage may follow
	Finished                     // the answer is whole: the last event of a stream, or a JSON answer
	Broken                       // there is no whole answer: Fault is the reason
	Relayed                      // Broken, and the client gets the provider's own error event
	Unasked                      // the target cannot take the request; nothing was sent
)

// Whole reports whether the answer is whole.
func (r *Result) Whole() bool { return r.State == Finished }

// Empty reports whether the answer is whole, and has neither text nor reasoning nor a tool call.
func (r *Result) Empty() bool {
	return r.Whole() && r.Text == (token.Text{}) && r.EndedBy != event.FinishTools
}

// Finish sets the state of a whole answer, and its final usage.
func (r *Result) Finish(u token.Usage) { r.State, r.Usage = Finished, u }

// Fail sets the state and the fault of an answer that is not whole.
func (r *Result) Fail(f *fault.Fault) { r.State, r.Fault = Broken, f }

// Appender writes the events that the gateway adds to a stream after content. The sink
// calls it while the transport may still read the stream. It knows how much of the stream
// the client has; the events themselves are those of the format's Continuation.
type Appender interface {
	// AppendKeepAlive appends a keep-alive for a client that was sent the first sent
	// bytes of the answer. It appends nothing if the transport has returned more bytes.
	AppendKeepAlive(dst []byte, sent int64) []byte
	// AppendFailure appends the event that ends a stream after its call has failed.
	AppendFailure(dst []byte, f *fault.Fault) []byte
}

// ErrorAnswer is a provider's error answer, which is relayed byte for byte to a client of
// the same format.
type ErrorAnswer struct {
	Status      int
	ContentType string
	Body        []byte
}

package exchange

import (
	"net/http"
	"time"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Result is what came of one call of an attempt. Only the transport writes it, and the
// gateway for a call that never got to the transport. It is final once the body of the
// answer is closed.
type Result struct {
	State     AnswerState
	Fault     *fault.Fault     // why there is no whole answer; nil while there is none, or the client has left
	Sent      bool             // the provider may have received a part of the request
	Losses    translate.Losses // fields of the request that a translation left behind
	Dropped   translate.Losses // parts of a translated answer that were left out
	Answer    *ErrorAnswer     // the provider's error answer, if it may be relayed as it is
	Header    http.Header      // headers of the provider that the client gets: when to retry a failed request; rate limits, if the traits allow it
	Status    int              // status of the provider, 0 before it answers
	RequestID string           // id of the call at the provider

	Called time.Time // when the request was sent; zero if it was not
	Began  time.Time // when the first content of a stream came; zero if none did

	// Continuation adds events to the stream; nil if the client's format has the
	// same ones for all streams.
	Continuation Continuation

	AnsweredBy string      // model that the provider names in its answer
	Usage      token.Usage // as reported so far; final in the state Finished
}

// AnswerState is how far the answer to a call is.
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

// Finish notes a whole answer with its final usage.
func (r *Result) Finish(u token.Usage) { r.State, r.Usage = Finished, u }

// Fail notes why there is no whole answer.
func (r *Result) Fail(f *fault.Fault) { r.State, r.Fault = Broken, f }

// Continuation adds events of the gateway to a stream of which the client has a
// part. The sink uses it while the transport may still read the stream.
type Continuation interface {
	// AppendKeepAlive appends a keep-alive for a client that has received sent bytes
	// of the answer; nothing if other bytes are on their way to it.
	AppendKeepAlive(dst []byte, sent int64) []byte
	// AppendFailure appends the event that ends a stream whose call has ended.
	AppendFailure(dst []byte, f *fault.Fault) []byte
}

// ErrorAnswer is a provider's error answer, kept to be relayed byte for byte to
// a client of the same format.
type ErrorAnswer struct {
	Status      int
	ContentType string
	Body        []byte
}

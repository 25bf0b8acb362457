package wire

import (
	"path"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/providers/demo/reply"
)

// Format is a wire format.
type Format struct {
	Family    *Family
	Name      string
	Endpoints []Endpoint // the first that matches a path serves it
}

// Endpoint is one path of a format. Exactly one of Generate, Compute and Refuse
// is set.
type Endpoint struct {
	Path    string // as in path.Match
	Methods []string

	// Generate reads a request to the model. The Writer writes the answer.
	Generate func(*Body) (*reply.Request, Writer)
	// Compute returns an answer that needs no model, for JSON.
	Compute func(*Body, reply.Seed) any
	// Refuse is the answer to every request.
	Refuse *reply.Refusal
}

// Matches reports whether the endpoint serves the path of a URL, with its escapes: names of models
// may contain slashes.
func (e Endpoint) Matches(escaped string) bool {
	matched, _ := path.Match(e.Path, escaped) // the patterns are well-formed
	return matched
}

// Writer writes the answer to one request.
type Writer interface {
	// Whole returns the answer for one JSON body.
	Whole(*reply.Answer) any
	// Stream emits the events of the answer.
	Stream(a *reply.Answer, emit func(Event))
	// Failed returns the JSON body of an answer that fails although its status
	// is 200.
	Failed(*reply.Answer, *reply.Refusal) any
	// FailedEvent returns the event that ends a stream with an error, after the
	// number of events that were sent.
	FailedEvent(a *reply.Answer, r *reply.Refusal, sent int) Event
}

// Event is one event of a stream.
type Event struct {
	Kind Kind
	Name string // of the event field; "" for none
	Data []byte
}

// Kind is the kind of an event, on which pace and faults depend.
type Kind int

// The kinds, in the order in which a stream has them.
const (
	Frame    Kind = iota // surrounds content; sent at once
	Content              // sent after a pause; the faults of mid-stream count these events
	Finish               // reports how the answer ended; no-finish leaves it out
	Terminal             // the last event; no-finish and no-done leave it out
)

// Family describes what the formats of one vendor have in common.
type Family struct {
	KeyHeader       string // header for the API key, as an alternative to a bearer token; "" for none
	VersionHeader   string // required header; "" for none
	RequestIDHeader string // header of answers
	DottedPaths     bool   // messages.0.role, else messages[0].role

	Overloaded reply.Refusal // the error of the faults in mid-answer
	TooLong    reply.Refusal // of a prompt, in the words by which clients recognize it

	// Error returns the body of an error answer.
	Error func(r *reply.Refusal, requestID string) any
	// Model returns the description of a model.
	Model func(name string) any
	// Models returns the list of models. names has at least one name.
	Models func(names []string) any
}

// ErrorBody implements Failed and FailedEvent of Writer for formats whose streams fail with
// the error body of the family. Name is the name of that event.
type ErrorBody struct {
	Family *Family
	Name   string
}

// Failed returns the error body of the family.
func (b ErrorBody) Failed(a *reply.Answer, r *reply.Refusal) any {
	return b.Family.Error(r, a.RequestID())
}

// FailedEvent returns an event with the error body of the family.
func (b ErrorBody) FailedEvent(a *reply.Answer, r *reply.Refusal, _ int) Event {
	return Event{Name: b.Name, Data: reply.Encode(b.Failed(a, r))}
}

// Optional returns nil for the empty string, which JSON shows as null.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

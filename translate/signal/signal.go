package signal

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Signal says what one event of a stream means to the one who relays it.
type Signal uint8

// The signals; an event may give several.
const (
	// Content marks the first kind of event after which an answer has truly
	// begun: text, reasoning, a signature, redacted thinking, a tool call or a
	// finish. Start events, pings, comments and empty deltas are not content.
	Content Signal = 1 << iota
	// Finish marks a stated end of the turn: a finish_reason of every choice
	// seen so far, or a stop_reason.
	Finish
	// Terminal marks the format's own last event: message_stop or [DONE].
	Terminal
	// UsageOnly marks a chunk that holds nothing but usage (choices: []). It is
	// withheld from a client that did not ask for it.
	UsageOnly
	// Failed marks an in-stream error; the observer's Fault tells which.
	Failed
	// HasUsage marks an event that holds a usage object, alone or beside content.
	// The member is withheld from a client that did not ask for it.
	HasUsage
)

// Has reports whether s includes all of x.
func (s Signal) Has(x Signal) bool { return s&x == x }

// Observer watches the events of one answer stream without changing them.
// It is not safe for concurrent use.
type Observer interface {
	// Observe reads the next event. The event's bytes are only read during the call.
	Observe(sse.Event) Signal
	// Usage is what the stream has said of usage so far.
	Usage() token.Usage
	// Model is the model that the provider said it answered with, "" while unknown.
	Model() string
	// Fault is the in-stream error after an event that was Failed, else nil.
	Fault() *fault.Fault
}

// Answer is what the gateway needs to know of a whole JSON answer.
type Answer struct {
	Model string
	Usage token.Usage
}

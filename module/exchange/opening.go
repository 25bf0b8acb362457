package exchange

import (
	"strings"
	"sync"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/format"
)

// AnswerIDs returns the ids of the answer to the client. model is the name of the model for
// an answer that names none.
func (e *Exchange) AnswerIDs(model string) translate.IDs {
	client := &e.Request.Format.Client
	_, random, _ := strings.Cut(e.ID, "_")
	return translate.IDs{
		Message:   client.AnswerID + random,
		Created:   e.Start.Unix(),
		Model:     model,
		NewToolID: func() string { return NewID(client.CallID) },
	}
}

// Opening contains the events that the gateway sends before a provider has answered, and
// their number, which the answer continues. The sink adds the events, while the transport
// writes the answer. The methods of a nil Opening do nothing.
type Opening struct {
	early bool // events may be sent before an answer

	mu      sync.Mutex // guards the fields below
	answers bool       // an answer continues the events, so that none may be added
	writer  format.Opening
}

// NewOpening returns the opening of an exchange, nil if its format has none or the client
// does not want a stream. early permits events before an answer. Every answer to the
// exchange must then be translated, since the events of a provider would not continue those
// of the gateway.
func NewOpening(e *Exchange, early bool) *Opening {
	if e.Request.Format.Answers.NewOpening == nil || !e.Request.Streaming() {
		return nil
	}
	return &Opening{early: early}
}

// Early reports whether events before an answer are permitted.
func (o *Opening) Early() bool { return o != nil && o.early }

// AppendKeepAlive appends an event that tells the client to wait. It appends nothing once an
// answer continues the events.
func (o *Opening) AppendKeepAlive(dst []byte, e *Exchange) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answers {
		return dst
	}
	return o.of(e).AppendKeepAlive(dst)
}

// AppendFailure appends the event that ends the stream without an answer.
func (o *Opening) AppendFailure(dst []byte, e *Exchange, f *fault.Fault) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of(e).AppendFailure(dst, f)
}

// of returns the writer of the events.
func (o *Opening) of(e *Exchange) format.Opening {
	if o.writer == nil {
		o.writer = e.Request.Format.Answers.NewOpening(e.Request.Body, e.AnswerIDs(e.Request.View.Model))
	}
	return o.writer
}

// Continue returns the number of events so far. The sink adds none until Reopen.
func (o *Opening) Continue() int64 {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answers = true
	if o.writer == nil {
		return 0
	}
	return o.writer.Events()
}

// Reopen permits events again, after an answer that the client has not got.
func (o *Opening) Reopen() {
	if o != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.answers = false
	}
}

package messages

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// observer watches a stream of events. It goes by their names, and reads the
// data only where the name does not tell enough: usage, the end of the turn,
// errors and, until content came, whether a block or a delta is empty.
type observer struct {
	cursor jsonscan.Cursor // in here so that an event costs no allocation
	usage  token.Usage
	model  string
	fault  *fault.Fault
	begun  bool // content was seen
	over   bool // nothing that follows counts
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &observer{} }

// Usage is what the events so far say together.
func (o *observer) Usage() token.Usage { return o.usage }

// Model is the model that message_start named.
func (o *observer) Model() string { return o.model }

// Fault is the error that the stream has told, nil without one.
func (o *observer) Fault() *fault.Fault { return o.fault }

// Observe reads the next event. What follows message_stop or an error says
// nothing.
func (o *observer) Observe(event sse.Event) signal.Signal {
	if o.over {
		return 0
	}
	name := event.Name
	if len(name) == 0 {
		name = o.typeOf(event.Data)
	}
	switch string(name) {
	case "content_block_delta", "content_block_start":
		if o.begun {
			return signal.Content
		}
		return o.read(event.Data)
	case "message_start", "message_delta":
		return o.read(event.Data)
	case "message_stop":
		o.over = true
		return signal.Terminal
	case "error":
		return o.fail(dialect.ReadEvent(event.Data))
	case "":
		return o.unreadable(errNoType)
	default:
		return 0
	}
}

var errNoType = errors.New("an event without a type")

func (o *observer) fail(fault *fault.Fault) signal.Signal {
	o.over = true
	o.fault = fault
	return signal.Failed
}

// unreadable judges an event that is not of the format. Once content was sent
// it is relayed as it came, for the client to judge.
func (o *observer) unreadable(cause error) signal.Signal {
	if o.begun {
		return 0
	}
	return o.fail(fault.Unusable(cause))
}

// typeOf is the type that the data name, for events without a name of their
// own; some servers write their errors without either.
func (o *observer) typeOf(data []byte) (name []byte) {
	defer o.forget()
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	c.EnterObject()
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			if name, _ := c.Text(); name != nil {
				return name
			}
		case "error":
			if c.Kind() != jsonscan.Null {
				name = []byte("error")
			}
		}
		c.Skip()
	}
	return name
}

// read reads the data of an event whose meaning depends on them.
func (o *observer) read(data []byte) signal.Signal {
	defer o.forget()
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	var e wireEvent
	if !c.EnterObject() {
		c.Skip()
		return o.unreadable(errors.Join(errNoType, c.Finish()))
	}
	usage := o.usage
	for c.Member() {
		e.member(c, &usage)
	}
	if err := jsonscan.Broken(c.Finish()); err != nil {
		return o.unreadable(err)
	}
	o.usage = usage
	if o.model == "" {
		o.model = e.name()
	}
	return o.signal(&e)
}

// forget lets go of the memory of an event, which the cursor would keep until one
// comes that must be read: that may be the last.
func (o *observer) forget() { o.cursor = jsonscan.Cursor{} }

func (o *observer) signal(e *wireEvent) (s signal.Signal) {
	if e.content || e.finished {
		o.begun = true
		s |= signal.Content
	}
	if e.finished {
		s |= signal.Finish
	}
	if e.hasUsage {
		s |= signal.HasUsage
	}
	return s
}

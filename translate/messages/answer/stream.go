package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// observer watches a stream of events. It goes by their names, and reads the
// data only where the name does not tell enough: usage, the end of the turn,
// errors and, until content came, whether a block or a delta is empty.
type observer struct {
	signal.Observed
	cursor jsonscan.Cursor // in here so that an event costs no allocation
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &observer{} }

// Observe reads the next event. What follows message_stop or an error says
// nothing.
func (o *observer) Observe(event sse.Event) signal.Signal {
	if o.Over {
		return 0
	}
	name := event.Name
	if len(name) == 0 {
		o.cursor = jsonscan.New(event.Data)
		name = signal.TypeOf(&o.cursor)
		o.forget()
	}
	switch string(name) {
	case "content_block_delta", "content_block_start":
		if o.Begun {
			return signal.Content
		}
		return o.read(event.Data)
	case "message_start", "message_delta":
		return o.read(event.Data)
	case "message_stop":
		o.Over = true
		return signal.Terminal
	case "error":
		return o.Fail(Dialect.ReadEvent(event.Data))
	case "":
		return o.Unreadable(errNoType)
	default:
		return 0
	}
}

var errNoType = errors.New("an event without a type")

// read reads the data of an event whose meaning depends on them.
func (o *observer) read(data []byte) signal.Signal {
	defer o.forget()
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	var e wireEvent
	if !c.EnterObject() {
		c.Skip()
		return o.Unreadable(errors.Join(errNoType, c.Finish()))
	}
	usage := o.Used
	for c.Member() {
		e.member(c, &usage)
	}
	if err := jsonscan.Broken(c.Finish()); err != nil {
		return o.Unreadable(err)
	}
	o.Used = usage
	if o.ModelName == "" {
		o.ModelName = e.name()
	}
	return o.signal(&e)
}

// forget lets go of the memory of an event, which the cursor would keep until one
// comes that must be read: that may be the last.
func (o *observer) forget() { o.cursor = jsonscan.Cursor{} }

func (o *observer) signal(e *wireEvent) (s signal.Signal) {
	if e.content || e.finished {
		o.Begun = true
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

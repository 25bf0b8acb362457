package answer

import (
	"errors"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// observer observes a stream of events by their names. It reads the data only if the name
// is not enough: for usage, text, the end of the turn, and errors. Most deltas differ from
// the one before only in their text.
type observer struct {
	signal.Observed
	cursor jsonscan.Cursor   // a field, so that an event costs no allocation
	counts token.Report      // of the last usage objects
	delta  jsonscan.Template // of the last delta with one text
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &observer{} }

// Observe reads the next event. Events after message_stop or an error are ignored.
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
		if o.repeats(event.Data) {
			return signal.Content
		}
		begun, s := o.Begun, o.read(event.Data)
		if begun {
			return signal.Content
		}
		return s
	case "message_start", "message_delta":
		return o.read(event.Data)
	case "content_block_stop":
		return signal.BlockEnd
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

// repeats counts the text of a delta that has the shape of an earlier one. It reports
// false, and does nothing, if the shape is another, or if the text is empty.
func (o *observer) repeats(data []byte) bool {
	values, ok := o.delta.Match(data)
	if !ok || len(values[0]) <= len(`""`) {
		return false
	}
	o.Written.AddString(values[0])
	return true
}

// read reads the data of an event.
func (o *observer) read(data []byte) signal.Signal {
	defer o.forget()
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	var e wireEvent
	if !c.EnterObject() {
		c.Skip()
		return o.Unreadable(errors.Join(errNoType, c.Finish()))
	}
	counts := o.counts
	for c.Member() {
		e.member(c, &counts)
	}
	if err := jsonscan.Broken(c.Finish()); err != nil {
		return o.Unreadable(err)
	}
	o.counts, o.Used = counts, o.Used.Then(counts.Usage())
	o.Written = o.Written.Plus(e.text)
	if e.texts == 1 && e.content {
		o.delta.Learn(data, [jsonscan.MaxHoles]jsonscan.Slot{e.at})
	}
	if o.ModelName == "" {
		o.ModelName = e.name()
	}
	return o.signal(&e)
}

// forget releases the memory of an event, which the cursor would otherwise keep until the
// next event whose data are read.
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

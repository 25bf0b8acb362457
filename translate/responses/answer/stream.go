package answer

import (
	"errors"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Observer watches a stream of events. It goes by their names, and reads the data
// only where the name does not tell enough: of the events about the whole response
// and, until content came, of those that may have some.
type Observer struct {
	signal.Observed
	cursor jsonscan.Cursor // in here so that an event costs no allocation
	head   head
	frame  frame
	events int64 // seen so far
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &Observer{} }

// Model is the model that the response names.
func (o *Observer) Model() string { return string(o.frame.model) }

// ID is the id of the response, "" while unknown.
func (o *Observer) ID() string { return o.frame.id }

// AppendFailure appends the event that ends a stream which broke off behind the
// events seen so far. Its number follows theirs, since they are numbered without
// gaps. It leaves the output open: clients keep what they have.
func (o *Observer) AppendFailure(dst []byte, f *fault.Fault) []byte {
	number := o.events
	if o.Fault() != nil { // the last event is the error, which the client does not have
		number--
	}
	return o.frame.appendFailed(dst, number, nil, f)
}

// AppendKeepAlive appends a comment: the number of an event would be one that the
// provider is about to use.
func (o *Observer) AppendKeepAlive(dst []byte) []byte { return append(dst, choices.KeepAlive...) }

// Observe reads the next event. What follows the end of the response or an error
// says nothing.
func (o *Observer) Observe(event sse.Event) signal.Signal {
	if o.Over || string(event.Data) == "[DONE]" {
		return 0
	}
	o.events++
	name := event.Name
	if len(name) == 0 {
		o.cursor = jsonscan.New(event.Data)
		name = signal.TypeOf(&o.cursor)
	}
	kind := eventKindOf(name)
	switch {
	case len(name) == 0:
		return o.Unreadable(errNoType)
	case kind == errorEvent || kind == failedEvent:
		return o.Fail(readFault(event.Data))
	case kind == completedEvent || kind == incompleteEvent || kind == headEvent && !o.Begun:
		return o.readHead(event.Data, kind)
	case o.Begun && kind.delta():
		return signal.Content
	case !o.Begun:
		return o.readContent(event.Data, kind)
	default:
		return 0
	}
}

var errNoType = errors.New("an event without a type")

// readHead reads an event about the whole response.
func (o *Observer) readHead(data []byte, kind eventKind) signal.Signal {
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	o.head = head{counts: o.head.counts}
	isError := false
	if !c.EnterObject() {
		c.Skip()
		return o.Unreadable(errors.Join(errNoObject, c.Finish()))
	}
	for c.Member() {
		switch string(c.Name()) {
		case "response":
			o.response(c)
		case "error":
			isError = c.Kind() != jsonscan.Null
			c.Skip()
		default:
			c.Skip()
		}
	}
	if err := jsonscan.Broken(c.Finish()); err != nil {
		return o.Unreadable(err)
	}
	if isError || o.head.isFault() {
		return o.Fail(readFault(data))
	}
	o.note()
	if kind == headEvent {
		return 0
	}
	o.Over, o.Begun = true, true
	return signal.Content | signal.Finish | signal.Terminal
}

// response reads the response at the cursor.
func (o *Observer) response(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		if !o.head.member(c) {
			c.Skip()
		}
	}
}

// note keeps what the response says of itself; the first word counts.
func (o *Observer) note() {
	h := &o.head
	if h.counts.known {
		o.Used = h.counts.usage()
	}
	if o.frame.id == "" {
		o.frame.id = string(jsonscan.AppendText(nil, h.id))
		o.frame.created = h.created
	}
	if len(o.frame.model) == 0 {
		o.frame.model = jsonscan.AppendText(nil, h.model)
	}
}

// readContent reads an event that may be the first with content.
func (o *Observer) readContent(data []byte, kind eventKind) signal.Signal {
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	found, isError := false, false
	if !c.EnterObject() {
		c.Skip()
		if kind.known() {
			return o.Unreadable(errors.Join(errNoObject, c.Finish()))
		}
	}
	for c.Member() {
		switch string(c.Name()) {
		case "error":
			isError = c.Kind() != jsonscan.Null
			c.Skip()
		case "delta", "text", "refusal", "arguments", "input":
			found = len(c.StringOrSkip()) > len(`""`) || found
		case "item":
			found = itemHasContent(c) || found
		case "part":
			found = partHasContent(c) || found
		default:
			c.Skip()
		}
	}
	switch err := jsonscan.Broken(c.Finish()); {
	case err != nil && kind.known():
		return o.Unreadable(err)
	case isError:
		return o.Fail(readFault(data))
	case found && kind.known():
		o.Begun = true
		return signal.Content
	}
	return 0
}

// itemHasContent reads an item. Messages and reasoning begin empty; a call says
// something by beginning. What the vendor runs on its own is no content.
func itemHasContent(c *jsonscan.Cursor) (found bool) {
	if !c.EnterObject() {
		c.Skip()
		return false
	}
	calls := false
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			kind := strings.Trim(string(c.StringOrSkip()), `"`)
			calls = kind == "function_call" || kind == "custom_tool_call"
		case "content", "summary":
			found = partsHaveContent(c) || found
		case "encrypted_content":
			found = len(c.StringOrSkip()) > len(`""`) || found
		default:
			c.Skip()
		}
	}
	return found || calls
}

func partsHaveContent(c *jsonscan.Cursor) (found bool) {
	for c.OpenArray(); c.Element(); {
		found = partHasContent(c) || found
	}
	return found
}

func partHasContent(c *jsonscan.Cursor) (found bool) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "text", "refusal":
			found = len(c.StringOrSkip()) > len(`""`) || found
		default:
			c.Skip()
		}
	}
	return found
}

package responses

import (
	"errors"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Observer watches a stream of events. It goes by their names, and reads the data
// only where the name does not tell enough: of the events about the whole response
// and, until content came, of those that may have some.
type Observer struct {
	cursor jsonscan.Cursor // in here so that an event costs no allocation
	head   head
	usage  token.Usage
	frame  frame
	fault  *fault.Fault
	events int64 // seen so far
	begun  bool  // content was seen
	over   bool  // nothing that follows counts
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &Observer{} }

// Usage is what the last event of the stream says.
func (o *Observer) Usage() token.Usage { return o.usage }

// Model is the model that the response names.
func (o *Observer) Model() string { return string(o.frame.model) }

// ID is the id of the response, "" while unknown.
func (o *Observer) ID() string { return o.frame.id }

// Fault is the error that the stream has told, nil without one.
func (o *Observer) Fault() *fault.Fault { return o.fault }

// AppendFailure appends the event that ends a stream which broke off behind the
// events seen so far. Its number follows theirs, since they are numbered without
// gaps. It leaves the output open: clients keep what they have.
func (o *Observer) AppendFailure(dst []byte, f *fault.Fault) []byte {
	return o.frame.appendFailed(dst, o.events, nil, f)
}

// Observe reads the next event. What follows the end of the response or an error
// says nothing.
func (o *Observer) Observe(event sse.Event) signal.Signal {
	if o.over || string(event.Data) == "[DONE]" {
		return 0
	}
	o.events++
	name := event.Name
	if len(name) == 0 {
		name = o.typeOf(event.Data)
	}
	kind := eventKindOf(name)
	switch {
	case len(name) == 0:
		return o.unreadable(errNoType)
	case kind == errorEvent || kind == failedEvent:
		return o.fail(readFault(event.Data))
	case kind == completedEvent || kind == incompleteEvent || kind == headEvent && !o.begun:
		return o.readHead(event.Data, kind)
	case o.begun && kind.delta():
		return signal.Content
	case !o.begun:
		return o.readContent(event.Data, kind)
	default:
		return 0
	}
}

var errNoType = errors.New("an event without a type")

func (o *Observer) fail(fault *fault.Fault) signal.Signal {
	o.over = true
	o.fault = fault
	return signal.Failed
}

// unreadable judges an event that is not of the format. Once content was sent it is
// relayed as it came, for the client to judge.
func (o *Observer) unreadable(cause error) signal.Signal {
	if o.begun {
		return 0
	}
	return o.fail(fault.Unusable(cause))
}

// typeOf is the type that the data name, for events without a name of their own;
// some servers write their errors without either.
func (o *Observer) typeOf(data []byte) (name []byte) {
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

// readHead reads an event about the whole response.
func (o *Observer) readHead(data []byte, kind eventKind) signal.Signal {
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	o.head = head{counts: o.head.counts}
	isError := false
	if !c.EnterObject() {
		c.Skip()
		return o.unreadable(errors.Join(errNoObject, c.Finish()))
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
		return o.unreadable(err)
	}
	if isError || o.head.isFault() {
		return o.fail(readFault(data))
	}
	o.note()
	if kind == headEvent {
		return 0
	}
	o.over, o.begun = true, true
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
		o.usage = h.counts.usage()
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
			return o.unreadable(errors.Join(errNoObject, c.Finish()))
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
		return o.unreadable(err)
	case isError:
		return o.fail(readFault(data))
	case found && kind.known():
		o.begun = true
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

package answer

import (
	"cmp"
	"errors"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// Observer observes a stream of events by their names. It reads the data only of events
// about the whole response, of deltas and, until there is content, of events that may have
// content. Most deltas differ from the one before only in their text, number and padding.
type Observer struct {
	signal.Observed
	cursor jsonscan.Cursor // a field, so that an event costs no allocation
	head   head
	frame  frame
	events int64             // seen so far
	delta  jsonscan.Template // of the last delta
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &Observer{} }

// Model returns the model that the response names, "" while unknown.
func (o *Observer) Model() string { return o.frame.model }

// ID returns the id of the response, "" while unknown.
func (o *Observer) ID() string { return o.frame.id }

// AppendFailure appends the event that ends a stream which broke off after the events seen
// so far. Its sequence number is the next one. Its output is empty, since some clients
// cannot read null there. ids are for what the stream has not named.
func (o *Observer) AppendFailure(dst []byte, ids translate.IDs, f *fault.Fault) []byte {
	number := o.events
	if o.Fault() != nil { // the last event is the error, which the client does not have
		number--
	}
	response := o.frame
	response.id = cmp.Or(response.id, ids.Message)
	response.created = cmp.Or(response.created, ids.Created)
	response.model = cmp.Or(response.model, ids.Model)
	return response.appendFailed(dst, number, []byte{}, f)
}

// AppendKeepAlive appends a comment: an event would take the sequence number of the
// provider's next event.
func (o *Observer) AppendKeepAlive(dst []byte) []byte { return append(dst, openai.KeepAlive...) }

// Observe reads the next event. Events after the end of the response or an error are
// ignored.
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
	if kind == itemDone {
		o.countSearch(event.Data)
	}
	switch {
	case len(name) == 0:
		return o.Unreadable(errNoType)
	case kind == errorEvent || kind == failedEvent:
		return o.Fail(readFault(event.Data))
	case kind == completedEvent || kind == incompleteEvent || kind == headEvent && !o.Begun:
		return o.readHead(event.Data, kind)
	case o.Begun && kind.delta():
		o.readDelta(event.Data)
		return signal.Content
	case !o.Begun:
		return o.readContent(event.Data, kind)
	case kind == itemDone:
		return signal.BlockEnd
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
	o.keep()
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

// keep keeps the usage, and the first id and model of the response.
func (o *Observer) keep() {
	h := &o.head
	o.Used = o.Used.Then(h.counts.Usage())
	if o.frame.id == "" {
		o.frame.id = string(jsonscan.AppendText(nil, h.id))
		o.frame.created = h.created
	}
	if o.frame.model == "" {
		o.frame.model = string(jsonscan.AppendText(nil, h.model))
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
		case "delta":
			text := c.StringOrSkip()
			o.Written.AddString(text)
			found = len(text) > len(`""`) || found
		case "text", "refusal", "arguments", "input":
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

// readDelta counts the text of a delta.
func (o *Observer) readDelta(data []byte) {
	if values, ok := o.delta.Match(data); ok {
		o.Written.AddString(values[0])
		return
	}
	var text []byte
	var at, number, padding jsonscan.Slot
	o.cursor = jsonscan.New(data)
	c := &o.cursor
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "delta":
			text, at = openai.StringWithSlot(c)
		case "sequence_number":
			number = slotOf(c, jsonscan.Number)
		case "obfuscation":
			padding = slotOf(c, jsonscan.String)
		default:
			c.Skip()
		}
	}
	o.Written.AddString(text)
	if text != nil && c.Finish() == nil {
		o.delta.Learn(data, [jsonscan.MaxHoles]jsonscan.Slot{at, number, padding})
	}
}

// itemHasContent consumes an item and reports whether it is content. Messages and
// reasoning begin empty; a call is content from the beginning. Calls of the vendor's own
// tools are not content.
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

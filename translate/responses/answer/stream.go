package answer

import (
	"bytes"
	"cmp"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/openai"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Observer observes a stream of events by their names. It reads the data only of events
// about the whole response, of deltas and, until there is content, of events that may have
// content. Most deltas differ from the one before only in their text, number and padding.
type Observer struct {
	signal.Observed
	report token.Report
	frame  frame
	events int64 // seen so far
	calls  bool  // a tool call was seen
}

// NewObserver returns an observer for one stream.
func NewObserver() signal.Observer { return &Observer{} }

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
	response.model = cmp.Or(o.ModelName, ids.Model)
	return response.appendEvent(dst, "response.failed", number, &ending{status: failed, fault: f})
}

// AppendKeepAlive appends a comment: an event would take the sequence number of the
// provider's next event.
func (o *Observer) AppendKeepAlive(dst []byte) []byte { return append(dst, openai.KeepAlive...) }

// Repeat implements signal.Observer.
func (o *Observer) Repeat(l *sse.Lexer) int {
	events := o.Observed.Repeat(l)
	o.events += int64(events)
	return events
}

// Observe reads the next event. Events after the end of the response or an error are
// ignored.
func (o *Observer) Observe(e sse.Event) signal.Signal {
	failing := o.Fault() != nil
	switch {
	case o.Closed:
		return 0
	case e.IsDone():
		if failing {
			return o.Fail(o.Fault())
		}
		return 0
	case !failing:
		o.events++
	}
	if o.Repeats(e) { // nearly all of a stream
		return signal.Content
	}
	var r reading
	name, kind := e.Name, eventKindOf(e.Name)
	read := len(name) == 0 || !o.Begun || isRead(kind, e.Data)
	var err error
	if read {
		err = r.read(e.Data, events, nil)
	}
	if len(name) == 0 {
		name = r.name()
		kind = eventKindOf(name)
	}
	switch {
	case kind.step == failStep:
		return o.Fail(Dialect.ReadEvent(e.Data))
	case failing:
		return 0
	case len(name) == 0:
		return o.Unreadable(errNoType)
	case kind.step == failingStep:
		return o.Expect(Dialect.ReadEvent(e.Data))
	case kind.step == endItemStep && read && err == nil:
		o.countSearch(r.Raw(eventItem))
	}
	o.calls = o.calls || kind.text != nil && kind.text.item.isCall()
	switch {
	case kind.step == completeStep || kind.step == incompleteStep || kind.step == headStep && !o.Begun:
		return o.head(&r, e.Data, kind, err)
	case !o.Begun:
		return o.content(&r, e.Data, kind, err)
	case kind.step == deltaStep:
		if err == nil { // one that cannot be read is relayed unchanged
			o.Written.AddString(r.Raw(eventText))
			o.Deltas.Learn(e, r.At(eventText), r.At(eventNumber), r.At(eventPadding))
		}
		return signal.Content
	case kind.step == endItemStep:
		return signal.BlockEnd
	default:
		return 0
	}
}

// isRead reports whether the data of an event is read once there is content.
func isRead(kind eventKind, data []byte) bool {
	switch kind.step {
	case deltaStep, completeStep, incompleteStep:
		return true
	case endItemStep:
		return bytes.Contains(data, []byte(searchType))
	default:
		return false
	}
}

// head notes an event about the whole response. It keeps the usage, and the first id and
// model of the response.
func (o *Observer) head(r *reading, data []byte, kind eventKind, err error) signal.Signal {
	switch {
	case err != nil:
		return o.Unreadable(err)
	case r.isError() || r.isFault():
		return o.Fail(Dialect.ReadEvent(data))
	}
	r.count(&o.report)
	o.Used = o.Used.Then(o.report.Usage())
	if o.frame.id == "" {
		o.frame.id, o.frame.created = jsonscan.TextOf(r.Raw(responseID)), token.CountOf(r.Raw(responseCreated))
	}
	if o.ModelName == "" {
		o.ModelName = jsonscan.TextOf(r.Raw(responseModel))
	}
	if kind.step == headStep {
		return 0
	}
	if f := r.failure(); f != nil && o.BreakOff(f) == signal.Failed {
		return signal.Failed
	}
	o.Ended = r.reason(kind.step == incompleteStep, o.calls)
	o.Closed, o.Begun = true, true
	return signal.Content | signal.Finish | signal.Terminal
}

// content notes an event that may be the first with content.
func (o *Observer) content(r *reading, data []byte, kind eventKind, err error) signal.Signal {
	switch {
	case err != nil && kind.known():
		return o.Unreadable(err)
	case r.isError():
		return o.Fail(Dialect.ReadEvent(data))
	case !kind.known():
		return 0
	}
	text := r.Filled(eventText)
	if kind.step == deltaStep {
		o.Written.AddString(text)
	}
	if text == nil && !partHasContent(r.Raw(eventPart)) && !itemHasContent(r.Raw(eventItem)) {
		return 0
	}
	o.Begun = true
	return signal.Content
}

// countSearch counts the raw item of an event that ends one, if it is a search.
func (o *Observer) countSearch(item []byte) {
	if v := identify(item); v.isSearch() {
		o.report.Searches++
		o.Used = o.Used.Then(o.report.Usage())
	}
}

// itemHasContent reports whether a raw item is content. Messages and reasoning begin empty; a
// call is content from the beginning, an image at its end. Calls of the vendor's own tools are not content.
func itemHasContent(raw []byte) bool {
	v := identify(raw)
	switch kind := kindOf(v.kind); {
	case kind.isCall() || v.Filled(itemSealed) != nil:
		return true
	case kind == imageItem:
		return len(jsonscan.MemberOf(raw, "result")) > len(`""`)
	}
	for _, list := range [][]byte{v.Raw(itemContent), v.Raw(itemSummary)} {
		parts := jsonscan.Skipped(list)
		for parts.OpenArray(); parts.Element(); {
			if partHasContent(parts.Skip()) {
				return true
			}
		}
	}
	return false
}

// partHasContent reports whether a raw part is content.
func partHasContent(raw []byte) bool {
	var v members.Values
	c := jsonscan.Skipped(raw)
	v.Read(&c, parts, nil)
	return v.Filled(partText) != nil || v.Filled(partRefusal) != nil
}

var inspectCount = singleanswer.InspectCount("input_tokens")

// Inspect reads a whole JSON answer to the operation. It returns a fault for an answer
// that contains an error object, no output, or no count of tokens.
func Inspect(body []byte, op translate.Operation) (signal.Answer, *fault.Fault) {
	if op == translate.CountTokens {
		return inspectCount(body)
	}
	var r reading
	switch err := r.read(body, responses, nil); {
	case err != nil:
		return signal.Answer{}, fault.Unusable(err)
	case r.isFault():
		failed := r.is(failed) && r.hasOutput() && Dialect.RelayableAnswer(body)
		return signal.Answer{Failed: failed, Usage: r.usage()}, r.fault()
	case !r.hasOutput():
		return signal.Answer{}, fault.Unusable(errNoOutput)
	}
	f := r.failure()
	return signal.Answer{Model: jsonscan.TextOf(r.Raw(responseModel)), Usage: r.usage(), Ended: r.reason(false, false), Failed: f != nil}, f
}

// usage returns the usage of a whole response.
func (r *reading) usage() token.Usage {
	var report token.Report
	r.count(&report)
	return report.Usage()
}

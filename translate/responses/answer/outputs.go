package answer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
)

// outputs sends the core events of the items of an answer. What an item is known to
// contain can be passed to it several times: only the rest is sent that was not sent before.
type outputs struct {
	*translate.Dropped
	events *singleanswer.Sender

	list    []*output      // in order of their first events
	last    *output        // the message or the reasoning with the last content, until it ends
	part    *part          // of the text that was sent last
	whole   members.Values // the part that was read last
	parts   int            // of all items
	calls   int            // that have begun
	refused bool
	text    []byte // memory of decoded texts
	scores  []byte // memory of log probabilities
}

// maxOutput bounds the items of an answer, and their parts, all of which are kept until
// the end.
const maxOutput = 4096

var (
	errManyItems   = fmt.Errorf("more than %d items", maxOutput)
	errManyParts   = fmt.Errorf("more than %d parts of items", maxOutput)
	errNameless    = errors.New("a tool call without a name")
	errInterleaved = errors.New("content of an item behind the next item")
)

var emptyObject = []byte("{}")

// find returns the item of an event, nil if there is none yet. The id takes precedence over
// the index, which some servers leave out and others get wrong, unless the item with the id
// has ended: some servers use an id twice.
func (o *outputs) find(s subject) *output {
	known := o.latest(func(it *output) bool { return it.kind == s.kind && it.hasID(s.id) })
	if known == nil || known.ended {
		if it := o.outputOf(s); it != nil {
			return it
		}
	}
	return known
}

// outputOf returns the item with the index of an event. Without an index, it is the last item,
// unless the ids differ.
func (o *outputs) outputOf(s subject) *output {
	if s.index >= 0 {
		return o.latest(func(it *output) bool { return it.index == s.index })
	}
	if n := len(o.list); n > 0 && !o.list[n-1].differs(s.id) {
		return o.list[n-1]
	}
	return nil
}

// latest returns the last item that is the one, nil for none.
func (o *outputs) latest(is func(*output) bool) *output {
	for _, it := range slices.Backward(o.list) {
		if is(it) {
			return it
		}
	}
	return nil
}

// streamed returns the item of a whole response that was streamed: the one with the same
// index, or with the same id; nil for none.
func (o *outputs) streamed(s subject) *output {
	if it := o.outputOf(s); it != nil && it.kind == s.kind && !it.whole {
		return it
	}
	for _, it := range o.list {
		if it.kind == s.kind && !it.whole && it.hasID(s.id) {
			return it
		}
	}
	return nil
}

// withText returns the item of an event with a text, and adds the item if it was not
// announced. It returns nil if the text is not to be sent: if the item is of another kind, or
// has ended; one of the lists of reasoning usually repeats the other; and arguments wait for
// the name of the function.
func (o *outputs) withText(s subject, t *textSource) *output {
	it := o.find(s)
	if it == nil {
		if it = o.add(s); it == nil {
			return nil
		}
		if s.index < 0 {
			it.id = jsonscan.AppendText(nil, s.id)
		}
	}
	switch {
	case it.ended || it.kind != s.kind:
		o.Drop(lostText)
	case it.kind.isCall() && (it.deferred || !it.begun):
		it.deferred = true
	case it.kind == reasoningItem && len(it.parts) > 0 && it.inContent != t.content:
		o.Drop(it.otherList())
	default:
		it.inContent = t.content
		return it
	}
	return nil
}

// reason returns the reason why an answer ended. cut reports that the answer is incomplete, for
// the reason of a word. So is an answer with a call that is.
func (o *outputs) reason(cut bool, word []byte) event.FinishReason {
	switch {
	case cut:
		return reasonOf(word)
	case slices.ContainsFunc(o.list, func(it *output) bool { return it.cut && it.kind.isCall() }):
		return event.FinishLength
	case o.refused:
		return event.FinishRefused
	case o.calls > 0:
		return event.FinishTools
	}
	return event.FinishStop
}

// add adds the item of an event. It returns nil after a fault. Items without an index are
// counted.
func (o *outputs) add(s subject) *output {
	if len(o.list) == maxOutput {
		o.events.Refuse(errManyItems)
		return nil
	}
	it := &output{index: s.index, kind: s.kind}
	if s.index < 0 {
		it.index = int64(len(o.list))
	}
	o.list = append(o.list, it)
	return it
}

// begin sends what is known of an item before its first delta.
func (o *outputs) begin(it *output, v *item) {
	if len(it.id) == 0 {
		it.id = jsonscan.AppendText(nil, v.id())
	}
	switch {
	case it.kind == unknownItem:
		o.DropContentNamed(inItem+"type=", jsonscan.Inner(v.kind))
		return
	case !it.kind.isCall() || it.ended:
		return
	}
	if name := v.Filled(itemName); !it.begun && name != nil {
		it.begun, it.tool = true, o.calls
		o.calls++
		o.events.Send(event.Event{
			Kind: event.ToolStart, Tool: it.tool, Custom: it.kind == freeCallItem,
			ID: jsonscan.AppendText(nil, v.Raw(itemCallID)), Name: jsonscan.AppendText(nil, name),
		})
	}
	if it.begun {
		o.rest(it, 0, v.arguments(it.kind), callArguments.event)
	}
}

// end sends the rest of an item, and ends the item.
func (o *outputs) end(it *output, v *item) {
	if it.ended || o.events.Over() {
		return
	}
	o.begin(it, v)
	it.cut = v.is(incomplete)
	switch it.kind {
	case messageItem:
		o.eachPart(it, messageText, v.Raw(itemContent))
	case reasoningItem:
		o.reasoning(it, v)
	case imageItem:
		o.image(v)
	}
	o.close(it)
}

// image sends the image of an item.
func (o *outputs) image(v *item) {
	const path = inItem + "type=image_generation_call"
	kind := cmp.Or(string(jsonscan.DecodedOf(v.Raw(imageFormat))), "png")
	o.events.SendMedia(event.NewMedia([]byte("image/"+kind), jsonscan.DecodedOf(v.Raw(imageResult)), path), path, o.Dropped)
}

// close ends an item. A function without arguments gets an empty object. A call that was cut
// off ends with the answer, whose finish reason decides about its arguments.
func (o *outputs) close(it *output) {
	if it.ended || o.events.Over() {
		return
	}
	it.ended = true
	switch {
	case !it.kind.isCall():
		o.leave(it)
	case !it.begun:
		o.events.Refuse(errNameless)
	case !it.cut:
		if it.kind == callItem && (len(it.parts) == 0 || it.parts[0].sent == 0) {
			o.events.Send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: emptyObject})
		}
		o.events.Send(event.Event{Kind: event.ToolEnd, Tool: it.tool})
	}
	it.parts = nil
}

// leave ends the text or the reasoning of the item, if it has the last content.
func (o *outputs) leave(it *output) {
	if o.last != it {
		return
	}
	o.last = nil
	end := event.TextEnd
	if it.kind == reasoningItem {
		end = event.ReasoningEnd
	}
	o.events.Send(event.Event{Kind: end})
}

// enter is called before content of an item is sent: it ends the text or the reasoning of
// the item before.
func (o *outputs) enter(it *output) {
	if o.last != nil && o.last != it {
		o.last.left = true
		o.leave(o.last)
	}
	o.last = it
}

// readItem reads a raw item. The members of an item that core events cannot express are not
// reported as dropped, since the whole item is.
func (o *outputs) readItem(v *item, raw []byte) {
	*v = item{}
	c := jsonscan.Skipped(raw)
	switch word := c.TypeAhead(); kindOf(word) {
	case unknownItem:
		v.kind = word
	case imageItem:
		o.events.Refuse(v.read(raw, imageItems, o.Dropped))
	default:
		o.events.Refuse(v.read(raw, items, o.Dropped))
	}
}

package answer

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// outputs sends the core events of the items of an answer. What an item is known to
// contain can be passed to it several times: only the rest is sent that was not sent before.
type outputs struct {
	translate.Dropped
	event.Sender

	list    []*output // in order of their first events
	last    *output   // the message or the reasoning with the last content, until it ends
	parts   int       // of all items
	calls   int       // that have begun
	cited   int       // bytes of sources
	refused bool
	text    []byte // memory of decoded texts
	scores  []byte // memory of log probabilities
	sent    sent
}

// output is the state of an item.
type output struct {
	index int64
	kind  itemKind
	id    []byte
	ended bool    // later events about the item are ignored
	left  bool    // another item has begun before its end, so no more content can follow
	whole bool    // the item was found in the whole response
	parts []*part // in order of their first events; a call has one, its arguments

	inContent bool // of reasoning: the parts are those of content instead of the summary

	// Of a call.
	tool     int  // its number
	begun    bool // the start was sent
	deferred bool // arguments preceded the name, so all arguments are sent at the end
	cut      bool // the call was cut off with the answer
}

// subject is what identifies the item of an event.
type subject struct {
	kind  itemKind
	index int64  // -1 for none
	id    []byte // a raw string, nil for none
}

// item is the item that was read last.
type item struct {
	members.Values
	kind []byte // the raw type
}

// id returns the raw string by which the events about an item name the item: its id, or for
// a call without one its call_id.
func (v *item) id() []byte {
	if id := v.Filled(itemID); id != nil {
		return id
	}
	return v.Raw(itemCallID)
}

// arguments returns the arguments of a call as a raw string, nil for none.
func (v *item) arguments(kind itemKind) []byte {
	if kind == freeCallItem {
		return v.Raw(itemInput)
	}
	raw := v.Raw(itemArguments)
	if len(raw) == 0 || raw[0] == '"' {
		return raw
	}
	return jsonscan.AppendString(nil, jsonscan.AppendCompact(nil, raw))
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
	if known != nil && !known.ended {
		return known
	}
	if it := o.at(s); it != nil {
		return it
	}
	return known
}

// at returns the item with the index of an event. Without an index, it is the last item,
// unless the ids differ.
func (o *outputs) at(s subject) *output {
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
	it := o.latest(func(it *output) bool { return it.index == s.index })
	if it != nil && it.kind == s.kind && !it.whole {
		return it
	}
	for _, it := range o.list {
		if it.kind == s.kind && !it.whole && it.hasID(s.id) {
			return it
		}
	}
	return nil
}

// open returns the item of an event with content, and adds the item if it was not announced.
// It returns nil if the item is of another kind, or has ended.
func (o *outputs) open(s subject) *output {
	it := o.find(s)
	if it == nil {
		if it = o.add(s); it != nil && s.index < 0 {
			it.id = jsonscan.AppendText(nil, s.id)
		}
	}
	switch {
	case it == nil:
		return nil
	case it.ended || it.kind != s.kind:
		o.Drop(lostText)
		return nil
	}
	return it
}

// withText is open for an event with a text. It returns nil if the text is not to be sent:
// one of the lists of reasoning usually repeats the other, and arguments wait for the name
// of the function.
func (o *outputs) withText(s subject, t *textSource) *output {
	it := o.open(s)
	switch {
	case it == nil:
		return nil
	case it.kind.isCall():
		if it.deferred = it.deferred || !it.begun; it.deferred {
			return nil
		}
	case it.kind == reasoningItem && len(it.parts) == 0:
		it.inContent = t.content
	case it.kind == reasoningItem && it.inContent != t.content:
		o.Drop(it.otherList())
		return nil
	}
	return it
}

// add adds the item of an event. It returns nil after a fault. Items without an index are
// counted.
func (o *outputs) add(s subject) *output {
	if len(o.list) == maxOutput {
		o.Fail(fault.Unusable(errManyItems))
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
		o.DropNamed(inItem+"type=", jsonscan.Inner(v.kind))
		return
	case !it.kind.isCall() || it.ended:
		return
	}
	if name := v.Filled(itemName); !it.begun && name != nil {
		it.begun, it.tool = true, o.calls
		o.calls++
		o.Send(event.Event{
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
	if it.ended {
		return
	}
	o.begin(it, v)
	it.cut = string(jsonscan.Inner(v.Raw(itemStatus))) == incomplete
	switch it.kind {
	case messageItem:
		o.eachPart(messageText, v.Raw(itemContent), func(i int64, w *members.Values) { o.message(it, i, w) })
	case reasoningItem:
		o.reasoning(it, v)
	}
	o.close(it)
}

// close ends an item. A function without arguments gets an empty object. A call that was cut
// off ends with the answer, whose finish reason decides about its arguments.
func (o *outputs) close(it *output) {
	if it.ended || o.Over() {
		return
	}
	it.ended = true
	switch {
	case !it.kind.isCall():
		o.leave(it)
	case !it.begun:
		o.Fail(fault.Unusable(errNameless))
	case !it.cut:
		if it.kind == callItem && (len(it.parts) == 0 || it.parts[0].sent == 0) {
			o.sent.part = nil
			o.Send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: emptyObject})
		}
		o.Send(event.Event{Kind: event.ToolEnd, Tool: it.tool})
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
	o.Send(event.Event{Kind: end})
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

// message sends the rest of a part of a message.
func (o *outputs) message(it *output, index int64, v *members.Values) {
	raw, e := v.Raw(partText), messageText.event
	if refusal := v.Raw(partRefusal); refusal != nil {
		raw, e = refusal, messageRefusal.event
	}
	if raw == nil {
		o.DropNamed(inPart+"type=", jsonscan.Inner(v.Raw(partType)))
		return
	}
	pt := o.rest(it, index, raw, e)
	if pt == nil {
		return
	}
	o.score(pt, v.Raw(partScores), true)
	if list := v.Filled(partAnnotations); list != nil {
		c := jsonscan.Skipped(list)
		c.OpenArray()
		for i := 0; c.Element(); i++ {
			if raw := c.Skip(); i >= pt.sources {
				o.source(pt, raw)
			}
		}
	}
}

// reasoning sends the rest of the texts of reasoning, and its encrypted_content as the
// signature. Its two lists usually have the same texts, so only the first one is sent.
func (o *outputs) reasoning(it *output, v *item) {
	summary, content := v.Raw(itemSummary), v.Raw(itemContent)
	if len(it.parts) == 0 {
		it.inContent = jsonscan.Blank(summary)
	}
	shown, other := summary, content
	if it.inContent {
		shown, other = content, summary
	}
	if !jsonscan.Blank(other) {
		o.Drop(it.otherList())
	}
	o.eachPart(reasoningSummary, shown, func(i int64, w *members.Values) {
		o.rest(it, i, w.Raw(partText), reasoningSummary.event)
	})
	switch sealed := v.Filled(itemSealed); {
	case sealed == nil:
	case it.left:
		o.Drop(inItem + "encrypted_content")
	default:
		o.enter(it)
		o.text = it.appendSignature(o.text[:0], sealed)
		o.Send(event.Event{Kind: event.Signature, Text: o.text, Origin: translate.Responses})
	}
}

// eachPart reads a raw list of parts, and calls each for every part.
func (o *outputs) eachPart(t *textSource, list []byte, each func(index int64, v *members.Values)) {
	if list == nil {
		return
	}
	var v members.Values
	c := jsonscan.Skipped(list)
	c.OpenArray()
	for i := int64(0); c.Element() && !o.Over(); i++ {
		if o.readPart(&v, c.Skip(), t) {
			each(i, &v)
		}
	}
}

// readPart reads a raw part. It returns false after a fault.
func (o *outputs) readPart(v *members.Values, raw []byte, t *textSource) (ok bool) {
	c := jsonscan.Skipped(raw)
	if !v.Read(&c, t.parts, &o.Dropped) && !jsonscan.Blank(raw) {
		o.Drop(t.path)
	}
	return o.valid(&c)
}

// readItem reads a raw item. It returns false after a fault. The members of an item that
// core events cannot express are not reported as dropped, since the whole item is.
func (o *outputs) readItem(v *item, raw []byte) (ok bool) {
	c := jsonscan.Skipped(raw)
	v.kind = c.TypeAhead()
	if v.Reset(&c); kindOf(v.kind) == unknownItem {
		return true
	}
	v.Read(&c, items, &o.Dropped)
	return o.valid(&c)
}

// valid ends the answer if the cursor has read an invalid value.
func (o *outputs) valid(c *jsonscan.Cursor) bool {
	err := c.Finish()
	if err != nil {
		o.Fail(fault.Unusable(err))
	}
	return err == nil
}

// part returns the part of an item with an index. It returns nil after a fault.
func (o *outputs) part(it *output, index int64) *part {
	for _, pt := range slices.Backward(it.parts) {
		if pt.index == index {
			return pt
		}
	}
	if o.parts++; o.parts > maxOutput {
		o.Fail(fault.Unusable(errManyParts))
		return nil
	}
	pt := newPart(index, o.sent.characters)
	it.parts = append(it.parts, pt)
	return pt
}

// fragment sends a fragment of a text of an item, the raw string at a position.
func (o *outputs) fragment(it *output, index int64, raw []byte, at jsonscan.Slot, e event.Event) *part {
	if it.left && e.Kind != event.ToolArgs {
		o.Fail(fault.Unusable(errInterleaved))
		return nil
	}
	pt := o.part(it, index)
	if pt != nil && len(raw) > len(`""`) {
		o.prepare(it, pt, &e)
		o.SendText(e, raw, at)
	}
	return pt
}

// rest sends the rest of the whole text of a part, a raw string. A whole text that does not
// begin with the text already sent is dropped, since that text cannot be taken back. rest
// returns nil after a fault.
func (o *outputs) rest(it *output, index int64, raw []byte, e event.Event) *part {
	pt := o.part(it, index)
	if pt == nil || raw == nil || pt.checked == pt.sent && jsonscan.TextLen(raw) == pt.sent {
		return pt
	}
	o.text = jsonscan.AppendText(o.text[:0], raw)
	rest, ok := pt.rest(o.text)
	if !ok || len(rest) > 0 && it.left {
		o.Drop(lostText)
		return pt
	}
	if len(rest) > 0 {
		o.prepare(it, pt, &e)
		e.Text = rest
		o.Send(e)
	}
	pt.checked = pt.sent
	return pt
}

// prepare is called before a text of a part is sent.
func (o *outputs) prepare(it *output, pt *part, e *event.Event) {
	if e.Kind == event.ToolArgs {
		e.Tool = it.tool
	} else {
		o.enter(it)
		e.Part = int(pt.index)
		o.refused = o.refused || e.Refusal
	}
	o.sent.part = pt
}

// score sends the log probabilities of the preceding text, a raw list. Those of a whole text
// repeat those of its deltas.
func (o *outputs) score(pt *part, raw []byte, whole bool) {
	if jsonscan.Blank(raw) || whole && pt.scored {
		return
	}
	pt.scored = true
	o.scores = jsonscan.AppendCompact(o.scores[:0], raw)
	o.Send(event.Event{Kind: event.Logprobs, Logprobs: o.scores})
}

// maxCited bounds the sources of an answer that are sent, in bytes.
const maxCited = 1 << 20

// source sends a raw annotation of a part. Other formats can express only web pages.
func (o *outputs) source(pt *part, raw []byte) {
	pt.sources++
	var v members.Values
	c := jsonscan.Skipped(raw)
	if string(jsonscan.Inner(c.TypeAhead())) == "url_citation" {
		v.Read(&c, annotations, &o.Dropped)
	}
	url, title := v.Filled(annotationURL), v.Raw(annotationTitle)
	o.cited += len(url) + len(title) + len(`{"url":,"title":}`)
	if url == nil || c.Finish() != nil || o.cited > maxCited {
		o.Drop(lostAnnotations)
		return
	}
	o.Send(event.Event{Kind: event.Source, Source: &event.Citation{
		URL: jsonscan.AppendText(nil, url), Title: jsonscan.AppendText(nil, title),
		Start: pt.from + int(token.CountOf(v.Raw(annotationStart))), End: pt.from + int(token.CountOf(v.Raw(annotationEnd))),
	}})
}

// otherList returns the path of the list of a reasoning item that is not sent.
func (it *output) otherList() string {
	if it.inContent {
		return inItem + "summary"
	}
	return inItem + "content"
}

// hasID reports whether the item has the raw id.
func (it *output) hasID(id []byte) bool {
	return len(id) > len(`""`) && len(it.id) > 0 && bytes.Equal(it.id, jsonscan.DecodedOf(id))
}

// differs reports whether the item has another id than the raw one, which may be nil.
func (it *output) differs(id []byte) bool {
	return len(id) > len(`""`) && len(it.id) > 0 && !bytes.Equal(it.id, jsonscan.DecodedOf(id))
}

// appendSignature appends the signature of a reasoning item. Together with the text that
// was sent, it restores the item in a later request: it consists of the id, the lengths of
// the parts of the text, with a "t" before them if the text is not the summary, and the
// encrypted_content.
func (it *output) appendSignature(dst, sealed []byte) []byte {
	if translate.PlainName(it.id) {
		dst = append(dst, it.id...)
	}
	dst = append(dst, '.')
	if it.inContent && len(it.parts) > 0 {
		dst = append(dst, 't')
	}
	inOrder := slices.SortedFunc(slices.Values(it.parts), func(a, b *part) int { return int(a.index - b.index) })
	for i, pt := range inOrder {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(pt.sent), 10)
	}
	dst = append(dst, '.')
	return jsonscan.AppendText(dst, sealed)
}

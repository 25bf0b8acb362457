package answer

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// output is the state of an item of the output.
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

// part is the part of an item's text that was sent.
type part struct {
	index       int64
	sent        int          // bytes
	hash        maphash.Hash // of the bytes sent
	checked     int          // the value of sent when it was last compared with the whole text
	from        int          // characters of all text before the part
	sources     int          // annotations seen
	hasLogprobs bool         // log probabilities were sent
}

// maxOutput bounds the items of an answer, and their parts, all of which are kept until
// the end.
const maxOutput = 4096

var (
	errManyItems = fmt.Errorf("more than %d items", maxOutput)
	errManyParts = fmt.Errorf("more than %d parts of items", maxOutput)
)

// seed is the seed of the hashes by which texts that were sent are recognized.
var seed = maphash.MakeSeed()

// find returns the item of the current event, nil if there is none yet. kind and id are those
// of the item. The id takes precedence over the index, which some servers leave out and
// others get wrong, unless the item with the id has ended: some servers use an id twice.
func (p *Parser) find(kind itemKind, id []byte) *output {
	known := p.findID(kind, id)
	if known != nil && !known.ended {
		return known
	}
	if it := p.findPlace(id); it != nil {
		return it
	}
	return known
}

// findPlace returns the item with the index of the current event. Without an index, it is
// the last item, unless the ids differ.
func (p *Parser) findPlace(id []byte) *output {
	if p.read.output >= 0 {
		return p.findIndex(p.read.output)
	}
	if len(p.items) == 0 {
		return nil
	}
	last := p.items[len(p.items)-1]
	if len(last.id) > 0 && !same(last.id, id) {
		return nil
	}
	return last
}

// findIndex returns the item with an index, nil for none.
func (p *Parser) findIndex(index int64) *output {
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.items[i].index == index {
			return p.items[i]
		}
	}
	return nil
}

// findID returns the last item of a kind with the raw id, nil for none.
func (p *Parser) findID(kind itemKind, id []byte) *output {
	if len(id) <= len(`""`) {
		return nil
	}
	for i := len(p.items) - 1; i >= 0; i-- {
		if it := p.items[i]; it.kind == kind && len(it.id) > 0 && same(it.id, id) {
			return it
		}
	}
	return nil
}

// addCurrent adds the item of the current event. It returns nil after a fault. Items without an
// index are counted.
func (p *Parser) addCurrent(kind itemKind) *output {
	if p.read.output < 0 {
		return p.add(int64(len(p.items)), kind)
	}
	return p.add(p.read.output, kind)
}

// add adds an item. It returns nil after a fault.
func (p *Parser) add(index int64, kind itemKind) *output {
	if len(p.items) == maxOutput {
		p.fail(fault.Unusable(errManyItems))
		return nil
	}
	it := &output{index: index, kind: kind}
	p.items = append(p.items, it)
	return it
}

// itemOf returns the item of the current event, and adds the item if it was not announced.
// It returns nil if the item is of another kind, or has ended.
func (p *Parser) itemOf(kind itemKind) *output {
	it := p.find(kind, p.read.itemID)
	if it == nil {
		if it = p.addCurrent(kind); it != nil && p.read.output < 0 {
			it.id = jsonscan.AppendText(nil, p.read.itemID)
		}
	}
	switch {
	case it == nil:
		return nil
	case it.ended || it.kind != kind:
		p.Drop(lostText)
		return nil
	}
	return it
}

// part returns the part of an item with an index. It returns nil after a fault.
func (p *Parser) part(it *output, index int64) *part {
	for i := len(it.parts) - 1; i >= 0; i-- {
		if it.parts[i].index == index {
			return it.parts[i]
		}
	}
	if p.parts++; p.parts > maxOutput {
		p.fail(fault.Unusable(errManyParts))
		return nil
	}
	pt := &part{index: index, from: p.characters}
	pt.hash.SetSeed(seed)
	it.parts = append(it.parts, pt)
	return pt
}

// addItem adds the item of the current event. It replaces an earlier item with the same
// index, since some servers never end items.
func (p *Parser) addItem() {
	w, ok := p.readItem(p.read.item)
	if !ok {
		return
	}
	id := ident(w.id, w.callID)
	it := p.findPlace(id)
	if it != nil && (it.ended || it.kind != kindOf(w.kind) || len(it.id) > 0 && !same(it.id, id)) {
		p.close(it)
		it.index = -1
		it = nil
	}
	if it == nil {
		it = p.addCurrent(kindOf(w.kind))
	}
	if it != nil {
		p.announce(it, &w)
	}
}

// announce sends the events that precede the first delta of an item.
func (p *Parser) announce(it *output, w *wholeItem) {
	if len(it.id) == 0 {
		it.id = jsonscan.AppendText(nil, ident(w.id, w.callID))
	}
	switch {
	case it.isCall():
		p.startCall(it, w)
		p.sendArguments(it, w)
	case it.kind == unknownItem:
		p.DropNamed(inItem+"type=", unquoted(w.kind))
	}
}

// startCall sends the start of a call, once its name is known.
func (p *Parser) startCall(it *output, w *wholeItem) {
	if it.begun || it.ended || len(w.name) <= len(`""`) {
		return
	}
	p.begin()
	it.begun, it.tool = true, p.calls
	p.calls++
	p.send(event.Event{
		Kind: event.ToolStart, Tool: it.tool, Custom: it.kind == freeCallItem,
		ID: jsonscan.AppendText(nil, w.callID), Name: jsonscan.AppendText(nil, w.name),
	})
}

// sendArguments sends the rest of the arguments of a call.
func (p *Parser) sendArguments(it *output, w *wholeItem) {
	raw := w.arguments
	if it.kind == freeCallItem {
		raw = w.input
	}
	if it.begun && !it.ended {
		p.sendRest(it, 0, raw, &event.Event{Kind: event.ToolArgs, Tool: it.tool})
	}
}

// endItem sends the rest of the item of the current event, and ends the item.
func (p *Parser) endItem() {
	w, ok := p.readItem(p.read.item)
	if !ok {
		return
	}
	it := p.find(kindOf(w.kind), ident(w.id, w.callID))
	if it == nil || it.kind != kindOf(w.kind) {
		it = p.addCurrent(kindOf(w.kind))
	}
	if it != nil {
		p.sendItem(it, &w)
	}
}

// sendItem sends the rest of an item, and ends the item.
func (p *Parser) sendItem(it *output, w *wholeItem) {
	if it.ended {
		return
	}
	p.announce(it, w)
	it.cut = string(w.status) == `"incomplete"`
	switch it.kind {
	case messageItem:
		p.sendMessage(it, w.content)
	case reasoningItem:
		p.sendReasoning(it, w)
	}
	p.close(it)
}

// close ends an item.
func (p *Parser) close(it *output) {
	if it.ended || p.over {
		return
	}
	it.ended = true
	switch it.kind {
	case messageItem:
		p.leave(it)
	case reasoningItem:
		p.leave(it)
	case callItem, freeCallItem:
		p.endCall(it)
	}
	it.parts = nil
}

// endCall ends a call. A function without arguments gets an empty object. A call that was
// cut off ends with the answer, whose finish reason decides about its arguments.
func (p *Parser) endCall(it *output) {
	switch {
	case !it.begun:
		p.fail(fault.Unusable(errNameless))
		return
	case it.cut:
		return
	}
	if it.kind == callItem && (len(it.parts) == 0 || it.parts[0].sent == 0) {
		p.send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: emptyObject})
	}
	p.send(event.Event{Kind: event.ToolEnd, Tool: it.tool})
}

var emptyObject = []byte("{}")

// endAll ends the items that the provider did not end.
func (p *Parser) endAll(incomplete bool) {
	for _, it := range p.items {
		it.cut = it.cut || incomplete
		p.close(it)
	}
}

// isCall reports whether an item is a call.
func (it *output) isCall() bool { return it.kind == callItem || it.kind == freeCallItem }

// enter is called before content of an item is sent: it ends the text or the reasoning of
// the item before.
func (p *Parser) enter(it *output) {
	if p.last != nil && p.last != it {
		p.last.left = true
		p.leave(p.last)
	}
	p.last = it
}

// leave ends the text or the reasoning of the item with the last content.
func (p *Parser) leave(it *output) {
	if p.last != it {
		return
	}
	p.last = nil
	if it.kind == reasoningItem {
		p.send(event.Event{Kind: event.ReasoningEnd})
	} else {
		p.send(event.Event{Kind: event.TextEnd})
	}
}

// same reports whether a text equals a raw string. It is true for an empty or absent one.
func same(text, raw []byte) bool {
	switch {
	case len(raw) <= len(`""`):
		return true
	case bytes.IndexByte(raw, '\\') < 0:
		return bytes.Equal(text, unquoted(raw))
	default:
		return string(text) == string(jsonscan.AppendText(nil, raw))
	}
}

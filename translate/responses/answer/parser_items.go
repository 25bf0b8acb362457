package answer

import (
	"fmt"
	"hash/maphash"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// output is what is known of an item of the output.
type output struct {
	index int64
	kind  itemKind
	id    []byte
	tool  int     // of a call that was begun: its number
	begun bool    // a call was told
	late  bool    // of a call: it had arguments before a name, so its end tells all of them
	cut   bool    // of a call: it was cut off, which the end of the answer says, too
	lists bool    // of reasoning: its parts are those of content, and not of the summary
	ended bool    // nothing more of it counts
	whole bool    // it was found in the whole response
	parts []*part // in order of first sight; a call has one, its arguments
}

// part is a text of an item, as far as it was told.
type part struct {
	index   int64
	sent    int          // bytes
	hash    maphash.Hash // of them
	checked int          // how many of them are known to begin the whole text
	from    int          // characters of all text before
	sources int          // annotations that were seen
	scored  bool         // log probabilities were told
}

// maxOutput bounds the items of an answer, and their parts, each of which is
// remembered to the end.
const maxOutput = 4096

var (
	errManyItems = fmt.Errorf("more than %d items", maxOutput)
	errManyParts = fmt.Errorf("more than %d parts of items", maxOutput)
)

// seed is that of the hashes by which texts that were told are recognised.
var seed = maphash.MakeSeed()

// find returns the item with that index, nil if it was not seen.
func (p *Parser) find(index int64) *output {
	for i := len(p.items) - 1; i >= 0; i-- {
		if p.items[i].index == index {
			return p.items[i]
		}
	}
	return nil
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

// of returns the item that the event at hand is about, which begins with it if it
// was not announced; nil if the index is that of an item of another kind, or of one
// that has ended.
func (p *Parser) of(kind itemKind) *output {
	index := max(0, p.read.output)
	it := p.find(index)
	if it == nil {
		it = p.add(index, kind)
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

// part returns the part of an item with that index. It returns nil after a fault.
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

// addItem announces an item. One that has an index of another item, which some
// servers never end, takes its place.
func (p *Parser) addItem() {
	w, ok := p.readItem(p.read.item)
	if !ok {
		return
	}
	index := max(0, p.read.output)
	it := p.find(index)
	if it != nil && (it.ended || it.kind != kindOf(w.kind) || len(it.id) > 0 && !same(it.id, w.id)) {
		p.close(it)
		it.index = -1
		it = nil
	}
	if it == nil {
		it = p.add(index, kindOf(w.kind))
	}
	if it != nil {
		p.announce(it, &w)
	}
}

// announce tells of an item what is told before its first delta.
func (p *Parser) announce(it *output, w *wholeItem) {
	if len(it.id) == 0 {
		it.id = jsonscan.AppendText(nil, w.id)
	}
	switch {
	case it.calls():
		p.startCall(it, w)
		p.tellArguments(it, w)
	case it.kind == unknownItem:
		p.DropNamed(inItem+"type=", unquoted(w.kind))
	}
}

// startCall tells that a call begins, once its name is known.
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

// tellArguments tells what was not streamed of the arguments of a call.
func (p *Parser) tellArguments(it *output, w *wholeItem) {
	raw := w.arguments
	if it.kind == freeCallItem {
		raw = w.input
	}
	if it.begun && !it.ended {
		p.rest(it, 0, raw, &event.Event{Kind: event.ToolArgs, Tool: it.tool})
	}
}

// endItem ends an item with all that it says.
func (p *Parser) endItem() {
	w, ok := p.readItem(p.read.item)
	if !ok {
		return
	}
	index := max(0, p.read.output)
	it := p.find(index)
	if it == nil || it.kind != kindOf(w.kind) {
		it = p.add(index, kindOf(w.kind))
	}
	if it != nil {
		p.tellItem(it, &w)
	}
}

// tellItem tells what was not told of a whole item, and ends it.
func (p *Parser) tellItem(it *output, w *wholeItem) {
	if it.ended {
		return
	}
	p.announce(it, w)
	it.cut = string(w.status) == `"incomplete"`
	switch it.kind {
	case messageItem:
		p.tellMessage(it, w.content)
	case reasoningItem:
		p.tellReasoning(it, w)
	}
	p.close(it)
}

// close ends an item of which nothing more comes.
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

// endCall ends a call. A function that was given no arguments has an empty object. A
// call that was cut off ends with the answer: what becomes of its arguments depends on
// why that ended.
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

// endAll ends the items that their provider did not end.
func (p *Parser) endAll(incomplete bool) {
	for _, it := range p.items {
		it.cut = it.cut || incomplete
		p.close(it)
	}
}

// calls reports whether an item is a call.
func (it *output) calls() bool { return it.kind == callItem || it.kind == freeCallItem }

// enter notes that an item says something, which ends what another one said.
func (p *Parser) enter(it *output) {
	if p.last != nil && p.last != it {
		p.leave(p.last)
	}
	p.last = it
}

// leave ends the text, or the reasoning, of the item that said something last.
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

// same reports whether a text is that of a raw string; nothing is the same as any.
func same(text, raw []byte) bool {
	return len(raw) <= len(`""`) || string(text) == string(jsonscan.AppendText(nil, raw))
}

package answer

import (
	"errors"
	"slices"
	"strconv"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Answer reads a whole JSON answer.
func (p *Parser) Answer(body []byte) {
	if p.over {
		return
	}
	c := &p.cursor
	p.read = reading{data: body, response: body, whole: true}
	*c = jsonscan.New(body)
	object := c.Kind() == jsonscan.Object
	p.readHead(c)
	switch err := c.Finish(); {
	case err != nil || !object:
		p.fail(fault.Unusable(errors.Join(err, errNoObject)))
	case p.read.head.isFault():
		p.Dropped = translate.Dropped{}
		p.fail(p.read.head.readFault(body))
	case p.read.head.output == nil:
		p.fail(fault.Unusable(errNoOutput))
	default:
		p.send(event.Event{Kind: event.Native, Text: body})
		p.complete(false)
	}
}

// ended reports whether the response is complete, or incomplete for good. Some servers send
// no status; a status that is null, or not a string, is no status of a complete response.
func (h *head) ended() bool {
	switch string(h.status) {
	case "", `"completed"`, `"incomplete"`:
		return true
	default:
		return false
	}
}

// sendOutput sends the rest of the items of a whole response.
func (p *Parser) sendOutput(raw []byte) {
	c := jsonscan.Again(raw)
	if raw == nil || !c.EnterArray() {
		return // the end of a stream may omit the items
	}
	for i := int64(0); c.Element() && !p.over; i++ {
		p.wholeItem(i, c.Skip())
	}
}

// wholeItem sends the rest of an item of a whole response. It is the streamed item with
// the same index, or with the same id, or otherwise a new item.
func (p *Parser) wholeItem(index int64, raw []byte) {
	kind, id := identify(raw)
	it := p.findIndex(index)
	if it == nil || it.kind != kind || it.whole {
		it = p.findStreamed(kind, id)
	}
	if it == nil {
		it = p.add(index, kind)
	}
	if it == nil {
		return
	}
	it.whole = true
	if it.ended {
		return
	}
	if p.read.whole {
		p.send(event.Event{Kind: event.Native, Text: raw})
	}
	if w, ok := p.readItem(raw); ok {
		p.sendItem(it, &w)
	}
}

// identify returns the kind and the id of a raw item.
func identify(raw []byte) (kind itemKind, id []byte) {
	var callID []byte
	c := jsonscan.Again(raw)
	for c.EnterObject(); c.Member(); {
		switch string(c.Name()) {
		case "type":
			kind = kindOf(c.Skip())
		case "id":
			id = c.StringOrSkip()
		case "call_id":
			callID = c.StringOrSkip()
		default:
			c.Skip()
		}
	}
	return kind, ident(id, callID)
}

// findStreamed returns the streamed item of a kind that has the raw id, nil for none.
func (p *Parser) findStreamed(kind itemKind, id []byte) *output {
	for _, it := range p.items {
		if it.kind == kind && !it.whole && len(it.id) > 0 && len(id) > len(`""`) && same(it.id, id) {
			return it
		}
	}
	return nil
}

// sendMessage sends the rest of the parts of a message.
func (p *Parser) sendMessage(it *output, content []byte) {
	p.eachPart(inPart, content, func(i int64, w *wholePart) { p.sendPart(it, i, w) })
}

// eachPart calls each for every part of a list. prefix is the path of the parts' members.
func (p *Parser) eachPart(prefix string, list []byte, each func(i int64, w *wholePart)) {
	c := jsonscan.Again(list)
	if list == nil || !c.EnterArray() {
		return
	}
	for i := int64(0); c.Element() && !p.over; i++ {
		part := jsonscan.Skipped(c.Skip())
		w := p.readPart(prefix, &part)
		if p.check(&part) {
			each(i, &w)
		}
	}
}

// sendPart sends the rest of a part of a message.
func (p *Parser) sendPart(it *output, index int64, w *wholePart) {
	e := textEvent
	raw := w.text
	if w.refusal != nil {
		e, raw = refusalEvent, w.refusal
	}
	if raw == nil {
		p.DropNamed(inPart+"type=", unquoted(w.kind))
		return
	}
	pt := p.sendRest(it, index, raw, &e)
	if pt == nil {
		return
	}
	if !pt.hasLogprobs {
		p.sendLogprobs(pt, w.logprobs)
	}
	p.sendSources(pt, w.annotations)
}

// endPart sends the rest of the part that the current event ends.
func (p *Parser) endPart() {
	c := jsonscan.Skipped(p.read.part)
	kind := c.TypeAhead()
	switch string(kind) {
	case `"summary_text"`, `"reasoning_text"`:
		p.wholeThought(&c, string(kind) == `"reasoning_text"`)
		return
	}
	w := p.readPart(inPart, &c)
	if !p.check(&c) {
		return
	}
	if it := p.itemOf(messageItem); it != nil {
		p.sendPart(it, p.read.content, &w)
	}
}

// endReasoningPart is endPart for the two kinds of texts of reasoning.
func (p *Parser) wholeThought(c *jsonscan.Cursor, content bool) {
	w := p.readPart(inSummary, c)
	it := p.reasoningOf(content)
	if !p.check(c) || it == nil {
		return
	}
	e, index := reasoningEvent, p.read.summary
	if content {
		index = p.read.content
	}
	p.sendRest(it, index, w.text, &e)
}

// sendReasoning sends the rest of the texts of reasoning, and its encrypted_content as the
// signature.
func (p *Parser) sendReasoning(it *output, w *wholeItem) {
	if len(it.parts) == 0 {
		it.inContent = jsonscan.Blank(w.summary)
	}
	shown, other := w.summary, w.content
	if it.inContent {
		shown, other = w.content, w.summary
	}
	if !jsonscan.Blank(other) {
		p.Drop(it.otherList())
	}
	p.sendThoughts(it, shown)
	switch {
	case len(w.sealed) <= len(`""`):
	case it.left:
		p.Drop(inItem + "encrypted_content")
	default:
		p.begin()
		p.enter(it)
		p.text = it.appendSignature(p.text[:0], w.sealed)
		p.send(event.Event{Kind: event.Signature, Text: p.text, Origin: translate.Responses})
	}
}

// sendThoughts sends the rest of a list of texts.
func (p *Parser) sendThoughts(it *output, list []byte) {
	p.eachPart(inSummary, list, func(i int64, w *wholePart) {
		e := reasoningEvent
		p.sendRest(it, i, w.text, &e)
	})
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
	for i, pt := range it.inOrder() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(pt.sent), 10)
	}
	dst = append(dst, '.')
	return jsonscan.AppendText(dst, sealed)
}

// inOrder returns the parts in the order of their indexes.
func (it *output) inOrder() []*part {
	return slices.SortedFunc(slices.Values(it.parts), func(a, b *part) int { return int(a.index - b.index) })
}

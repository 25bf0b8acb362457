package answer

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// The items of a stream may interleave, which other formats cannot express: their texts and
// their reasoning follow each other. So the events of a message or of reasoning wait until
// the one before has ended. Calls wait only behind items that wait, since the core events of
// several calls may interleave.
//
// Nothing waits for an item that was not announced, nor does an event without an index:
// servers that leave out the announcement or the index end all items only at the end of the
// stream, if at all. Such an item is left when the next one begins, and more content of it is
// a fault.

// queue contains the events of an item that wait.
type queue struct {
	index  int64
	events []sse.Event
}

// maxWaiting bounds the events that wait, in bytes.
const maxWaiting = 4 << 20

var (
	errWaiting     = fmt.Errorf("more than %d bytes behind an item that has not ended", maxWaiting)
	errInterleaved = errors.New("content of an item behind the next item")
)

// mustWait reports whether the current event has to wait for the end of the open item.
func (p *Parser) mustWait(kind eventKind) bool {
	if p.last == nil || len(p.last.id) == 0 || p.read.output < 0 || p.read.output == p.last.index {
		return false
	}
	of, id := p.subject(kind)
	it := p.find(of, id)
	switch of {
	case messageItem, reasoningItem:
		return (kind != itemAdded || len(p.waiting) > 0) && (it == nil || it != p.last && !it.ended)
	case callItem, freeCallItem:
		return it == nil && len(p.waiting) > 0
	default:
		return false
	}
}

// subject returns the kind and the raw id of the item of the current event.
func (p *Parser) subject(kind eventKind) (of itemKind, id []byte) {
	switch kind {
	case textDelta, textDone, refusalDelta, refusalDone, annotationAdded:
		return messageItem, p.read.itemID
	case summaryDelta, summaryDone, thoughtDelta, thoughtDone, summaryPartDone:
		return reasoningItem, p.read.itemID
	case argumentsDelta, argumentsDone:
		return callItem, p.read.itemID
	case freeInputDelta, freeInputDone:
		return freeCallItem, p.read.itemID
	case partDone:
		part := jsonscan.Again(p.read.part)
		if string(part.TypeAhead()) == `"reasoning_text"` {
			return reasoningItem, p.read.itemID
		}
		return messageItem, p.read.itemID
	case itemAdded, itemDone:
		return identify(p.read.item)
	default:
		return unknownItem, nil
	}
}

// wait keeps the current event until the open item has ended.
func (p *Parser) wait(e sse.Event) {
	if p.held += eventSize(e); p.held > maxWaiting {
		p.fail(fault.Unusable(errWaiting))
		return
	}
	e.Name, e.Data = bytes.Clone(e.Name), bytes.Clone(e.Data)
	for i := range p.waiting {
		if q := &p.waiting[i]; q.index == p.read.output {
			q.events = append(q.events, e)
			return
		}
	}
	p.waiting = append(p.waiting, queue{p.read.output, []sse.Event{e}})
}

// eventSize returns the number of bytes that a waiting event takes.
func eventSize(e sse.Event) int { return len(e.Name) + len(e.Data) + 128 }

// release reads the events that have waited, item by item, while no item is open.
func (p *Parser) release() {
	for p.last == nil && len(p.waiting) > 0 && !p.over {
		next := p.waiting[0].events
		p.waiting = p.waiting[1:]
		for _, e := range next {
			p.held -= eventSize(e)
			p.readWaiting(e)
		}
	}
}

// readWaiting reads an event that has waited. An item that was found in the whole response
// needs no more events.
func (p *Parser) readWaiting(e sse.Event) {
	if p.over || p.readEvent(e.Data) != nil {
		return
	}
	kind := eventKindOf(e.Name)
	if of, id := p.subject(kind); !p.isWhole(of, id) {
		p.step(kind, e.Name)
	}
}

// isWhole reports whether an item was found in the whole response.
func (p *Parser) isWhole(kind itemKind, id []byte) bool {
	it := p.find(kind, id)
	return it != nil && it.whole
}

// releaseAll reads all events that have waited, at the end of the answer. Items that have
// not ended end where the next one begins.
func (p *Parser) releaseAll() {
	read := p.read
	for len(p.waiting) > 0 && !p.over {
		if p.last != nil {
			p.close(p.last)
		}
		p.release()
	}
	p.read = read
}

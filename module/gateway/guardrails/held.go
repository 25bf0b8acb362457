package guardrails

import (
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/module/aigateway"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/texts"
)

// mostHeld is the largest number of bytes of an answer that are held back.
const mostHeld = 32 << 20

var errMuchHeld = errors.New("an answer of more than 32 MiB would have to be held back")

// channel is a text of the answer that comes in pieces.
type channel struct {
	kind  texts.Kind
	name  string // of the tool
	text  strings.Builder
	ended bool

	checked int                   // the length that was checked
	clear   int                   // what comes before may be sent, with the edits
	asked   bool                  // guards were asked about it
	edits   []aigateway.GuardEdit // of the text, in order
}

// isDue reports whether guards are to be asked about the channel. The arguments of a call are
// shown as a whole.
func (c *channel) isDue(step int) bool {
	if c.ended {
		return c.clear < c.text.Len() || !c.asked
	}
	return c.kind != texts.Call && c.text.Len()-c.checked > step
}

// piece is a string of an event that is a part of a channel.
type piece struct {
	channel    *channel
	start, end int            // in the text of the channel
	span       translate.Span // in the bytes of the event; empty if it is not known
}

// edited returns the text of the piece with the edits of its channel, and whether there are any.
func (p *piece) edited() (text string, changed bool) {
	whole, start, edits := p.channel.text.String(), p.start, p.channel.edits
	first := sort.Search(len(edits), func(i int) bool { return edits[i].End > p.start || edits[i].Start >= p.start })
	var b strings.Builder
	for _, e := range edits[first:] {
		if e.Start >= p.end {
			break
		}
		changed = true
		if e.Start >= p.start {
			b.WriteString(whole[start:e.Start])
			b.WriteString(e.With)
		}
		start = min(max(e.End, start), p.end)
	}
	if !changed {
		return whole[p.start:p.end], false
	}
	b.WriteString(whole[start:p.end])
	return b.String(), true
}

// other is a string of an event that is a text of its own.
type other struct {
	event *event
	span  translate.Span // in the bytes of the event; empty if it cannot be changed
	text  string
}

// event is an event that is held back, or a whole JSON answer.
type event struct {
	raw       []byte
	pieces    []piece
	edits     []edit.Edit
	unchecked int // of its other strings
}

// held are the events that the client has not got yet, and the texts of the answer so far.
type held struct {
	queue    []*event
	size     int
	channels map[texts.Channel]*channel
	order    []*channel
	others   []*other // that were not checked
	known    map[string]bool
	logprobs bool
	open     bool // nothing is held back: the texts are only logged
}

// add adds an event. locate returns the position in its bytes of an offset in its data.
func (h *held) add(raw []byte, part *texts.Part, locate func(offset int) int) {
	e := &event{raw: raw}
	h.queue, h.size = append(h.queue, e), h.size+len(raw)
	h.logprobs = h.logprobs || part.Logprobs
	span := func(slot jsonscan.Slot) (s translate.Span) {
		if slot.End > 0 {
			s = translate.Span{Start: locate(slot.Start), End: locate(slot.End)}
		}
		return s
	}
	for i := range part.Pieces {
		p := &part.Pieces[i]
		c := h.channel(p)
		start := c.text.Len()
		c.text.WriteString(p.Text)
		e.pieces = append(e.pieces, piece{c, start, c.text.Len(), span(p.Slot)})
	}
	for _, end := range part.Ended {
		for id, c := range h.channels {
			c.ended = c.ended || end.Ends(id)
		}
	}
	for i := range part.Others {
		h.addOther(e, part.Others[i].Text, span(part.Others[i].Slot))
	}
}

// channel returns the channel of a piece, which may be a new one.
func (h *held) channel(p *texts.Piece) *channel {
	c := h.channels[p.Channel]
	if c == nil {
		if h.channels == nil {
			h.channels = make(map[texts.Channel]*channel)
		}
		c = &channel{kind: p.Channel.Kind, name: p.Name}
		h.channels[p.Channel], h.order = c, append(h.order, c)
	}
	c.ended = false
	return c
}

// mostKnown bounds the strings that are remembered, and their length in bytes.
const (
	mostKnown   = 1000
	longestName = 64
)

// addOther adds another string of an event. Some events repeat the text of a channel: it gets
// the same edits.
func (h *held) addOther(e *event, text string, span translate.Span) {
	if h.known[text] {
		return
	}
	for _, c := range h.order {
		if c.text.Len() == len(text) && c.text.String() == text {
			e.pieces = append(e.pieces, piece{c, 0, len(text), span})
			return
		}
	}
	e.unchecked++
	h.others = append(h.others, &other{e, span, text})
}

// pass ends the check of an other string, whose text may have changed. It returns false if it
// cannot be changed.
func (h *held) pass(o *other, text string) bool {
	o.event.unchecked--
	if text == o.text {
		if len(text) <= longestName && len(h.known) < mostKnown {
			if h.known == nil {
				h.known = make(map[string]bool)
			}
			h.known[text] = true
		}
		return true
	}
	o.event.edits = append(o.event.edits, edit.Edit{Span: o.span, With: jsonscan.AppendString(nil, text)})
	return !o.span.Empty()
}

// sent returns the texts that may have been sent, with their edits: all of them, unless the answer
// is checked and has not ended.
func (h *held) sent() (list []aigateway.GuardText) {
	for _, c := range h.order {
		passed := piece{channel: c, end: c.text.Len()}
		if !h.open {
			passed.end = c.clear
		}
		text, _ := passed.edited()
		if c.kind == texts.Call {
			text = texts.Unescaped(text)
		}
		list = append(list, aigateway.GuardText{Kind: kinds[c.kind], Name: c.name, Group: len(list), Text: text})
	}
	return list
}

// release returns the bytes of the events that may be sent, with their edits. ok is false if an
// edit cannot be put back.
func (h *held) release() (released []byte, ok bool) {
	for len(h.queue) > 0 {
		e := h.queue[0]
		waits := func(p piece) bool { return p.end > p.channel.clear || !p.channel.asked && p.channel.kind == texts.Call }
		if !h.open && (e.unchecked > 0 || slices.ContainsFunc(e.pieces, waits)) {
			break
		}
		for i := range e.pieces {
			if text, changed := e.pieces[i].edited(); changed {
				if e.pieces[i].span.Empty() {
					return released, false
				}
				e.edits = append(e.edits, edit.Edit{Span: e.pieces[i].span, With: jsonscan.AppendString(nil, text)})
			}
		}
		slices.SortFunc(e.edits, func(a, b edit.Edit) int { return a.Start - b.Start })
		released = edit.Apply(released, e.raw, e.edits)
		h.queue, h.size = h.queue[1:], h.size-len(e.raw)
	}
	return released, true
}

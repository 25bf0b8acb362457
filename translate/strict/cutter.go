package strict

import (
	"bytes"
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Cutter finds the spans to cut out of an array in order to remove some elements and
// leave valid JSON. Behind an element that stays, a removed element is cut together with
// the comma in front of it; in front of the first element that stays, with the comma
// behind it. So any choice of elements leaves exactly the commas needed.
type Cutter struct {
	Spans *[]translate.Span // in order, shared by all arrays of a body
	stays bool              // an element has stayed
	lead  translate.Span    // the elements in front of the first that stays
	end   int               // the end of the previous element
}

// Element adds the next element of the array. goes reports whether it is to be removed.
func (c *Cutter) Element(at translate.Span, goes bool) {
	switch {
	case goes && c.stays:
		c.cut(translate.Span{Start: c.end, End: at.End})
	case goes && c.lead.Empty():
		c.lead = at
	case goes:
		c.lead.End = at.End
	case !c.stays:
		c.stays = true
		if !c.lead.Empty() {
			c.cut(translate.Span{Start: c.lead.Start, End: at.Start})
		}
	}
	c.end = at.End
}

// All reports whether there are elements and all of them are to be removed. In this case
// nothing is cut yet: the caller removes the whole array, or calls CutAll.
func (c *Cutter) All() bool { return !c.stays && !c.lead.Empty() }

// CutAll cuts all elements, which leaves an empty array.
func (c *Cutter) CutAll() { c.cut(c.lead) }

// cut adds a span. Spans come in order, except for the elements in front of the first
// message that stays, which are added when that message has been read.
func (c *Cutter) cut(s translate.Span) {
	spans := *c.Spans
	if last := len(spans) - 1; last >= 0 && spans[last].End == s.Start {
		spans[last].End = s.End
		return
	}
	at := len(spans)
	for at > 0 && spans[at-1].Start > s.Start {
		at--
	}
	*c.Spans = slices.Insert(spans, at, s)
}

// CutMember adds a member that was read to the parts of SelfSigned, with a comma beside it. It
// must be the only member of its object that is cut. It begins at its MemberStart.
func (p *Pass) CutMember(cut translate.Span) {
	rest := bytes.TrimLeft(p.body[cut.End:], jsonSpace)
	before := bytes.TrimRight(p.body[:cut.Start], jsonSpace)
	switch {
	case bytes.HasPrefix(rest, []byte{','}):
		cut.End = len(p.body) - len(rest) + 1
	case bytes.HasSuffix(before, []byte{','}):
		cut.Start = len(before) - 1
	}
	p.View.SelfSigned = append(p.View.SelfSigned, cut)
}

const jsonSpace = " \t\r\n"

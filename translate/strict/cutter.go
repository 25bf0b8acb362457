package strict

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// Cutter finds the spans to cut so that some elements of an array go and the
// rest stays valid JSON. Behind an element that stays, one that goes takes the
// comma in front of it along; in front of the first that stays, the comma
// behind it. So any choice of elements leaves exactly the commas needed.
type Cutter struct {
	Spans *[]translate.Span // in order, shared by all arrays of a body
	stays bool              // an element that stays was seen
	lead  translate.Span    // the elements in front of the first that stays
	end   int               // where the element before ended
}

// Element takes in the next element of the array, and whether it goes.
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

// All reports whether every element goes, and there is one. Nothing was cut
// then: the array is better left out as a whole, or cut with CutAll.
func (c *Cutter) All() bool { return !c.stays && !c.lead.Empty() }

// CutAll cuts all elements, which leaves an empty array.
func (c *Cutter) CutAll() { c.cut(c.lead) }

// cut adds a span. It is the last one but for the elements that led up to the
// first message that stays, which are known only once that one was read.
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

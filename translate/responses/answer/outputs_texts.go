package answer

import (
	"slices"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// reasoning sends the rest of the texts of reasoning, and its encrypted_content as the
// signature. Its two lists usually have the same texts, so only the first one is sent.
func (o *outputs) reasoning(it *output, v *item) {
	shown, other := v.Raw(itemSummary), v.Raw(itemContent)
	if len(it.parts) == 0 {
		it.inContent = jsonscan.Blank(shown)
	}
	if it.inContent {
		shown, other = other, shown
	}
	if !jsonscan.Blank(other) {
		o.Drop(it.otherList())
	}
	o.eachPart(it, reasoningSummary, shown)
	switch sealed := v.Filled(itemSealed); {
	case sealed == nil:
	case it.left:
		o.Drop(inItem + "encrypted_content")
	default:
		o.enter(it)
		o.text = it.appendSignature(o.text[:0], sealed)
		o.events.Send(event.Event{Kind: event.Signature, Text: o.text, Origin: translate.Responses})
	}
}

// eachPart sends the rest of the parts in a raw list.
func (o *outputs) eachPart(it *output, t *textSource, list []byte) {
	c := jsonscan.Skipped(list)
	c.OpenArray()
	for i := int64(0); c.Element() && !o.events.Over(); i++ {
		if o.readPart(c.Skip(), t) {
			o.restOf(it, i)
		}
	}
}

// readPart reads a raw part. It returns false after a fault.
func (o *outputs) readPart(raw []byte, t *textSource) (ok bool) {
	c := jsonscan.Skipped(raw)
	if !o.whole.Read(&c, t.parts, o.Dropped) && !jsonscan.Blank(raw) {
		o.Drop(t.path)
	}
	o.events.Refuse(c.Finish())
	return !o.events.Over()
}

// restOf sends the rest of the part that was read last.
func (o *outputs) restOf(it *output, index int64) {
	v := &o.whole
	raw, e := v.Raw(partText), messageText.event
	refusal := v.Raw(partRefusal)
	switch {
	case it.kind == reasoningItem:
		o.rest(it, index, raw, reasoningSummary.event)
		return
	case refusal != nil:
		raw, e = refusal, messageRefusal.event
	case raw == nil:
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

// partAt returns the part of an item with an index. It returns nil after a fault.
func (o *outputs) partAt(it *output, index int64) *part {
	for _, pt := range slices.Backward(it.parts) {
		if pt.index == index {
			return pt
		}
	}
	if o.parts++; o.parts > maxOutput {
		o.events.Refuse(errManyParts)
		return nil
	}
	pt := &part{index: index, start: o.events.Characters()}
	pt.hash.SetSeed(seed)
	it.parts = append(it.parts, pt)
	return pt
}

// fragment sends a fragment of a text of an item, the raw string at a position.
func (o *outputs) fragment(it *output, index int64, raw []byte, slot jsonscan.Slot, e event.Event) *part {
	if it.left && e.Kind != event.ToolArgs {
		o.events.Refuse(errInterleaved)
		return nil
	}
	pt := o.partAt(it, index)
	if pt != nil && len(raw) > len(`""`) {
		o.prepare(it, pt, &e)
		pt.add(o.events.SendText(e, raw, slot))
	}
	return pt
}

// rest sends the rest of the whole text of a part, a raw string. A whole text that does not
// begin with the text already sent is dropped, since that text cannot be taken back. rest
// returns nil after a fault.
func (o *outputs) rest(it *output, index int64, raw []byte, e event.Event) *part {
	pt := o.partAt(it, index)
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
		o.events.Send(e)
		pt.add(rest)
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
	o.part = pt
}

// score sends the log probabilities of the preceding text, a raw list. Those of a whole text
// repeat those of its deltas.
func (o *outputs) score(pt *part, raw []byte, whole bool) {
	if jsonscan.Blank(raw) || whole && pt.scored {
		return
	}
	pt.scored = true
	o.scores = jsonscan.AppendCompact(o.scores[:0], raw)
	o.events.Send(event.Event{Kind: event.Logprobs, Logprobs: o.scores})
}

// source sends a raw annotation of a part. Other formats can express only web pages.
func (o *outputs) source(pt *part, raw []byte) {
	pt.sources++
	var v members.Values
	c := jsonscan.Skipped(raw)
	if string(jsonscan.Inner(c.TypeAhead())) == "url_citation" {
		v.Read(&c, annotations, o.Dropped)
	}
	url, title := v.Filled(annotationURL), v.Raw(annotationTitle)
	if !o.events.Citable(url, title) || c.Err() != nil {
		o.Drop(lostAnnotations)
		return
	}
	o.events.Send(event.Event{Kind: event.Source, Source: &event.Citation{
		URL: jsonscan.AppendText(nil, url), Title: jsonscan.AppendText(nil, title),
		Start: pt.start + int(token.CountOf(v.Raw(annotationStart))), End: pt.start + int(token.CountOf(v.Raw(annotationEnd))),
	}})
}

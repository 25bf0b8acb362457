package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// maxCited bounds the sources of an answer that are sent, in bytes.
const maxCited = 1 << 20

// annotate sends the annotation of the current event.
func (p *Parser) annotate() {
	it := p.itemOf(messageItem)
	if it == nil {
		return
	}
	if pt := p.part(it, p.read.content); pt != nil {
		pt.sources++
		p.sendSource(pt, p.read.annotation)
	}
}

// sendSources sends the rest of the annotations of a whole part.
func (p *Parser) sendSources(pt *part, annotations []byte) {
	c := jsonscan.Again(annotations)
	if jsonscan.Blank(annotations) || !c.EnterArray() {
		return
	}
	for i := 0; c.Element(); i++ {
		if raw := c.Skip(); i >= pt.sources {
			pt.sources++
			p.sendSource(pt, raw)
		}
	}
}

// sendSource sends an annotation as a source. Other formats can express only web pages.
func (p *Parser) sendSource(pt *part, raw []byte) {
	c := jsonscan.Skipped(raw)
	source, ok := p.readSource(&c)
	p.cited += len(source.URL) + len(source.Title) + len(`{"url":,"title":}`)
	if !ok || c.Finish() != nil || p.cited > maxCited {
		p.Drop(lostAnnotations)
		return
	}
	source.Start += pt.from
	source.End += pt.from
	p.send(event.Event{Kind: event.Source, Source: &source})
}

// readSource consumes an annotation. It reports false unless the annotation is a web page.
func (p *Parser) readSource(c *jsonscan.Cursor) (s event.Citation, ok bool) {
	if string(c.TypeAhead()) != `"url_citation"` || !c.EnterObject() {
		c.Skip()
		return s, false
	}
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			c.Skip()
		case "url":
			s.URL = jsonscan.AppendText(nil, c.StringOrSkip())
		case "title":
			s.Title = jsonscan.AppendText(nil, c.StringOrSkip())
		case "start_index":
			s.Start = int(max(0, index(c)))
		case "end_index":
			s.End = int(max(0, index(c)))
		default:
			p.DropMember(inAnnotation, c)
		}
	}
	return s, len(s.URL) > 0
}

package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

const (
	lostCitations = "content.*.citations"
	inCitation    = lostCitations + ".*."

	// maxCited bounds the sources of an answer that are told, in bytes.
	maxCited = 1 << 20
)

// cite keeps what a block cites until its text is known to its end. Only pages of
// the web are sources that other formats have words for; what is quoted of them
// they have not.
func (p *Parser) cite(b *openBlock, raw []byte) {
	c := jsonscan.New(raw)
	source, ok := p.readSource(&c)
	p.cited += len(source.URL) + len(source.Title) + len(`{"url":,"title":}`)
	if !ok || c.Finish() != nil || b.kind != textBlock || p.cited > maxCited {
		p.Drop(lostCitations)
		return
	}
	if n := len(b.sources); n > 0 && same(&b.sources[n-1], &source) {
		return // another quotation of the same page
	}
	b.sources = append(b.sources, source)
}

func same(a, b *event.Citation) bool {
	return bytes.Equal(a.URL, b.URL) && bytes.Equal(a.Title, b.Title)
}

// citeAll keeps what a whole block cites.
func (p *Parser) citeAll(b *openBlock, raw []byte) {
	if jsonscan.Blank(raw) {
		return
	}
	c := jsonscan.New(raw)
	if !c.EnterArray() {
		p.Drop(lostCitations)
	}
	for c.Element() {
		p.cite(b, c.Skip())
	}
}

// readSource reads a citation, unless it is none of a page of the web.
func (p *Parser) readSource(c *jsonscan.Cursor) (s event.Citation, ok bool) {
	if string(c.TypeAhead()) != `"web_search_result_location"` {
		c.Skip()
		return s, false
	}
	c.EnterObject()
	for c.Member() {
		switch string(c.Name()) {
		case "type":
			c.Skip()
		case "url":
			s.URL = jsonscan.AppendText(nil, c.StringOrSkip())
		case "title":
			s.Title = jsonscan.AppendText(nil, c.StringOrSkip())
		default:
			p.DropMember(inCitation, c)
		}
	}
	return s, len(s.URL) > 0
}

// tellSources sends what a block cites, behind its text.
func (p *Parser) tellSources(b *openBlock) {
	for i := range b.sources {
		s := &b.sources[i]
		s.Start, s.End = b.from, p.characters
		p.send(event.Event{Kind: event.Source, Source: s})
	}
}

// dropSources notes what blocks cite that never ended.
func (p *Parser) dropSources() {
	for _, b := range p.blocks {
		if len(b.sources) > 0 {
			p.Drop(lostCitations)
		}
	}
}

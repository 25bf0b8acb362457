package answer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

const (
	lostCitations = "content.*.citations"
	inCitation    = lostCitations + ".*."

	// maxCited bounds the sources of an answer that are sent, in bytes.
	maxCited = 1 << 20
)

// cite keeps a source of a block until the block ends, since a source refers to the whole
// text of its block. Other formats can express only web pages, without the quoted text.
func (p *Parser) cite(b *openBlock, raw []byte) {
	c := jsonscan.New(raw)
	source, ok := p.readSource(&c)
	p.cited += len(source.URL) + len(source.Title) + len(`{"url":,"title":}`)
	if !ok || c.Finish() != nil || b.kind != textBlock || p.cited > maxCited {
		p.Drop(lostCitations)
		return
	}
	if n := len(b.sources); n > 0 && sameSource(&b.sources[n-1], &source) {
		return // another quotation from the same page
	}
	b.sources = append(b.sources, source)
}

func sameSource(a, b *event.Citation) bool {
	return bytes.Equal(a.URL, b.URL) && bytes.Equal(a.Title, b.Title)
}

// citeAll keeps the sources in the array of a block.
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

// readSource consumes a citation. It reports false unless the citation is a web page.
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

// sendSources sends the sources of a block, after its text.
func (p *Parser) sendSources(b *openBlock) {
	for i := range b.sources {
		s := &b.sources[i]
		s.Start, s.End = b.from, p.characters
		p.send(event.Event{Kind: event.Source, Source: s})
	}
}

// dropSources reports the sources of blocks that never ended as dropped.
func (p *Parser) dropSources() {
	for _, b := range p.blocks {
		if len(b.sources) > 0 {
			p.Drop(lostCitations)
		}
	}
}

package answer

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// block is a block of the answer that has begun.
type block struct {
	kind    blockKind
	tool    int
	args    bool // arguments were sent
	from    int  // characters of text before the block
	part    int  // text blocks before the block
	sources []event.Citation
}

// seen counts what the events of an answer contain, and passes them on.
type seen struct {
	next       event.Handler
	events     int
	texts      int // text blocks
	tools      int // tool calls
	cited      int // bytes of sources
	characters int // of text
}

// Handle passes an event on.
func (s *seen) Handle(e *event.Event) {
	s.events++
	if e.Kind == event.Text {
		s.characters += utf8.RuneCount(e.Text)
	}
	s.next.Handle(e)
}

const (
	// maxOpen bounds the blocks that are open at the same time. Most servers end a block
	// before they begin the next one.
	maxOpen = 4096
	// maxCited bounds the sources of an answer that are sent, in bytes.
	maxCited = 1 << 20
)

var (
	errTwice = errors.New("a block that was begun twice")
	errOpen  = fmt.Errorf("more than %d blocks without an end", maxOpen)
)

// blockStart begins the block of a content_block_start. Texts and thinking usually begin
// empty.
func (p *Parser) blockStart() {
	r := &p.reading
	index := token.CountOf(r.whole.Raw(eventIndex))
	switch _, known := p.blocks[index]; {
	case known:
		p.Fail(fault.Unusable(errTwice))
	case len(p.blocks) == maxOpen:
		p.Fail(fault.Unusable(errOpen))
	case r.whole.Raw(eventBlock) == nil:
		p.Drop(lostBlock)
		p.blocks[index] = &block{}
	default:
		r.cursor = r.whole.Cursor(eventBlock)
		p.blocks[index] = p.beginBlock(&r.cursor)
	}
}

// beginBlock reads the block at the cursor, and sends its beginning. The members of a block
// that core events cannot express are not reported as dropped, since the block as a whole
// is.
func (p *Parser) beginBlock(c *jsonscan.Cursor) *block {
	b, v := &block{kind: blockKindOf(c.TypeAhead()), from: p.seen.characters, part: p.seen.texts}, &p.reading.part
	if b.kind == unknownBlock {
		c.Skip()
		p.Drop(lostBlock)
		return b
	}
	if v.Read(c, blocks, &p.Dropped); c.Err() != nil {
		p.Fail(fault.Unusable(c.Err()))
		return b
	}
	var none jsonscan.Slot
	switch b.kind {
	case textBlock:
		p.seen.texts++
		p.SendText(event.Event{Kind: event.Text, Part: b.part}, v.Raw(blockText), none)
	case thinkingBlock:
		p.SendText(event.Event{Kind: event.Reasoning}, v.Raw(blockThinking), none)
		p.SendText(event.Event{Kind: event.Signature}, v.Raw(blockSignature), none)
	case redactedThinkingBlock:
		p.SendText(event.Event{Kind: event.Redacted}, v.Raw(blockData), none)
	case toolUseBlock:
		b.tool = p.seen.tools
		p.seen.tools++
		p.Send(event.Event{
			Kind: event.ToolStart, Tool: b.tool, ID: jsonscan.DecodedOf(v.Raw(blockID)), Name: jsonscan.DecodedOf(v.Raw(blockName)),
		})
		if input := v.Filled(blockInput); input != nil { // an empty object only announces the deltas
			b.args = true
			p.Send(event.Event{Kind: event.ToolArgs, Tool: b.tool, Text: jsonscan.AppendCompact(nil, input)})
		}
	}
	if v.Filled(blockCitations) != nil {
		list := v.Cursor(blockCitations)
		if !list.EnterArray() {
			p.Drop(lostCitations)
		}
		for list.Element() {
			p.cite(b, &list)
		}
	}
	return b
}

// knownDeltas lists the raw types of the deltas that core events can express. A delta
// without a type is recognized by its members.
var knownDeltas = map[string]bool{
	"": true, `"text_delta"`: true, `"thinking_delta"`: true, `"signature_delta"`: true, `"input_json_delta"`: true, `"citations_delta"`: true,
}

// blockDelta sends the events of a delta. Deltas of unknown kinds, and texts of a wrong
// kind for their block, are dropped.
func (p *Parser) blockDelta() {
	r, dropped := &p.reading, p.Dropped
	p.readPart(eventDelta, deltas)
	v := &r.part
	if kind := v.Raw(deltaType); !knownDeltas[string(kind)] {
		p.Dropped = dropped // the delta is reported as a whole
		p.DropNamed(inBlock, jsonscan.Inner(kind))
		return
	}
	b, known := p.blocks[token.CountOf(r.whole.Raw(eventIndex))]
	if !known {
		b = &block{}
	}
	if v.Filled(deltaCitation) != nil {
		citation := v.Cursor(deltaCitation)
		p.cite(b, &citation)
	}
	p.lose(inBlock+"content", v.Filled(deltaSummary))
	switch {
	case b.kind == toolUseBlock:
		p.lose(inBlock+"text", v.Filled(deltaText))
		p.lose(inBlock+"thinking", v.Filled(deltaThinking))
		p.SendText(event.Event{Kind: event.ToolArgs, Tool: b.tool}, v.Raw(deltaJSON), v.At(deltaJSON))
		b.args = b.args || v.Filled(deltaJSON) != nil
	case !known || b.kind == textBlock || b.kind == thinkingBlock:
		p.lose(inBlock+"partial_json", v.Filled(deltaJSON))
		p.SendText(event.Event{Kind: event.Text, Part: b.part}, v.Raw(deltaText), v.At(deltaText))
		p.SendText(event.Event{Kind: event.Reasoning}, v.Raw(deltaThinking), v.At(deltaThinking))
		p.SendText(event.Event{Kind: event.Signature}, v.Raw(deltaSignature), v.At(deltaSignature))
	}
}

// endBlock sends the end of a block, nil for one that never began. A call without arguments
// gets an empty object.
func (p *Parser) endBlock(b *block) {
	switch {
	case b == nil:
	case b.kind == textBlock:
		for i := range b.sources {
			s := &b.sources[i]
			s.Start, s.End = b.from, p.seen.characters
			p.Send(event.Event{Kind: event.Source, Source: s})
		}
	case b.kind == thinkingBlock:
		p.Send(event.Event{Kind: event.ReasoningEnd})
	case b.kind == toolUseBlock:
		if !b.args {
			p.Send(event.Event{Kind: event.ToolArgs, Tool: b.tool, Text: []byte("{}")})
		}
		p.Send(event.Event{Kind: event.ToolEnd, Tool: b.tool})
	}
}

// cite consumes a citation, and keeps its source until the block ends, since a source
// refers to the whole text of its block. Other formats can express only web pages, without
// the quoted text.
func (p *Parser) cite(b *block, c *jsonscan.Cursor) {
	p.Differ()
	var v members.Values
	if string(c.TypeAhead()) == `"web_search_result_location"` {
		v.Read(c, citations, &p.Dropped)
	} else {
		c.Skip()
	}
	s := event.Citation{URL: []byte(jsonscan.TextOf(v.Raw(citationURL))), Title: []byte(jsonscan.TextOf(v.Raw(citationTitle)))}
	p.seen.cited += len(s.URL) + len(s.Title) + len(`{"url":,"title":}`)
	if len(s.URL) == 0 || c.Err() != nil || b.kind != textBlock || p.seen.cited > maxCited {
		p.Drop(lostCitations)
		return
	}
	if n := len(b.sources); n > 0 && bytes.Equal(b.sources[n-1].URL, s.URL) && bytes.Equal(b.sources[n-1].Title, s.Title) {
		return // another quotation from the same page
	}
	b.sources = append(b.sources, s)
}

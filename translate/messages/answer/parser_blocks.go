package answer

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/singleanswer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/members"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// maxOpen bounds the blocks that are open at the same time. Most servers end a block before
// they begin the next one.
const maxOpen = 4096

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
		p.Events.Refuse(errTwice)
	case len(p.blocks) == maxOpen:
		p.Events.Refuse(errOpen)
	case r.whole.Raw(eventBlock) == nil:
		p.Drop(lostBlock)
		p.blocks[index] = &singleanswer.Item{}
	default:
		c := r.whole.Cursor(eventBlock)
		it := p.beginBlock(&c)
		p.blocks[index] = &it
	}
}

// beginBlock reads the block at the cursor, sends its beginning, and returns its item. The
// members of a block that core events cannot express are not reported as dropped, since the block
// as a whole is.
func (p *Parser) beginBlock(c *jsonscan.Cursor) (it singleanswer.Item) {
	word := c.TypeAhead()
	kind, v := blockKindOf(word), &p.reading.part
	if kind == unknownBlock {
		c.Skip()
		p.DropContentNamed(lostKind, jsonscan.Inner(word))
		return it
	}
	if v.Read(c, blocks, &p.Dropped); c.Err() != nil {
		p.Events.Refuse(c.Err())
		return it
	}
	var none jsonscan.Slot
	switch kind {
	case textBlock:
		it = p.Events.Open(event.Text)
		p.Events.Add(&it, v.Raw(blockText), none)
	case thinkingBlock:
		it = p.Events.Open(event.Reasoning)
		p.Events.Add(&it, v.Raw(blockThinking), none)
		p.Events.SendText(event.Event{Kind: event.Signature}, v.Raw(blockSignature), none)
	case redactedThinkingBlock:
		p.Events.SendText(event.Event{Kind: event.Redacted}, v.Raw(blockData), none)
	case toolUseBlock:
		it = p.Events.OpenCall(v.Raw(blockID), v.Raw(blockName))
		p.Events.AddInput(&it, v.Filled(blockInput)) // an empty object only announces the deltas
	}
	if v.Filled(blockCitations) != nil {
		list := v.Cursor(blockCitations)
		if !list.EnterArray() {
			p.Drop(lostCitations)
		}
		for list.Element() {
			p.cite(&it, &list)
		}
	}
	return it
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
	it, known := p.blocks[token.CountOf(r.whole.Raw(eventIndex))]
	if !known {
		it = &singleanswer.Item{}
	}
	if v.Filled(deltaCitation) != nil {
		citation := v.Cursor(deltaCitation)
		p.cite(it, &citation)
	}
	p.Lose(inBlock+"content", v.Filled(deltaSummary))
	switch {
	case it.Kind == event.ToolArgs:
		p.Lose(inBlock+"text", v.Filled(deltaText))
		p.Lose(inBlock+"thinking", v.Filled(deltaThinking))
		p.Events.Add(it, v.Raw(deltaJSON), v.At(deltaJSON))
	case !known || it.Kind == event.Text || it.Kind == event.Reasoning:
		p.Lose(inBlock+"partial_json", v.Filled(deltaJSON))
		p.Events.SendText(event.Event{Kind: event.Text, Part: it.Part}, v.Raw(deltaText), v.At(deltaText))
		p.Events.SendText(event.Event{Kind: event.Reasoning}, v.Raw(deltaThinking), v.At(deltaThinking))
		p.Events.SendText(event.Event{Kind: event.Signature}, v.Raw(deltaSignature), v.At(deltaSignature))
	}
}

// cite consumes a citation, and keeps its source until the block ends, since a source
// refers to the whole text of its block. Other formats can express only web pages, without
// the quoted text.
func (p *Parser) cite(it *singleanswer.Item, c *jsonscan.Cursor) {
	p.Events.Differ()
	var v members.Values
	if string(c.TypeAhead()) == `"web_search_result_location"` {
		v.Read(c, citations, &p.Dropped)
	} else {
		c.Skip()
	}
	url, title := []byte(jsonscan.TextOf(v.Raw(citationURL))), []byte(jsonscan.TextOf(v.Raw(citationTitle)))
	if c.Err() != nil || !p.Events.Cite(it, url, title) {
		p.Drop(lostCitations)
	}
}

package singleanswer

import (
	"bytes"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// Item is a text, a piece of reasoning or a tool call of an answer that is being read. The
// zero Item is something else, which has no events.
type Item struct {
	Kind    event.Kind // of its fragments: Text, Reasoning or ToolArgs; 0 for none
	Part    int        // number of texts before the item
	tool    int        // number among the calls
	hasArgs bool       // arguments were sent
	start   int        // characters of text before the item
	sources []event.Citation
}

// maxCited bounds the sources of an answer that are sent, in bytes.
const maxCited = 1 << 20

// Open begins a text or a piece of reasoning, by the kind of its fragments.
func (p *Parser) Open(kind event.Kind) Item {
	it := Item{Kind: kind, Part: p.sent.texts, start: p.sent.characters}
	if kind == event.Text {
		p.sent.texts++
	}
	return it
}

// OpenCall begins a tool call, with the raw strings of its id and its name; nil for none.
func (p *Parser) OpenCall(id, name []byte) Item {
	it := Item{Kind: event.ToolArgs, tool: p.sent.calls}
	p.sent.calls++
	p.Send(event.Event{Kind: event.ToolStart, Tool: it.tool, ID: jsonscan.DecodedOf(id), Name: jsonscan.DecodedOf(name)})
	return it
}

// Add sends a fragment of an item, a raw string at a position of the delta; see
// event.Sender.SendText. An empty or nil one has no effect.
func (p *Parser) Add(it *Item, raw []byte, slot jsonscan.Slot) {
	e := event.Event{Kind: it.Kind}
	switch it.Kind {
	case event.Text:
		e.Part = it.Part
	case event.ToolArgs:
		e.Tool = it.tool
		it.hasArgs = it.hasArgs || len(raw) > len(`""`)
	case event.Reasoning:
	default:
		return
	}
	p.SendText(e, raw, slot)
}

// AddInput sends the arguments of a call that are raw JSON, and not a string; nil for none.
func (p *Parser) AddInput(it *Item, raw []byte) {
	if raw != nil {
		it.hasArgs = true
		p.Send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: jsonscan.AppendCompact(nil, raw)})
	}
}

// Cite keeps a web page as a source of the whole text of an item, which its end sends. Both
// texts are decoded, and kept. Cite reports whether the source can be sent: the item must be a
// text, and the page Citable.
func (p *Parser) Cite(it *Item, url, title []byte) bool {
	if !p.Citable(url, title) || it.Kind != event.Text {
		return false
	}
	if n := len(it.sources); n == 0 || !bytes.Equal(it.sources[n-1].URL, url) || !bytes.Equal(it.sources[n-1].Title, title) {
		it.sources = append(it.sources, event.Citation{URL: url, Title: title})
	}
	return true
}

// Citable counts a web page among the sources of the answer, and reports whether it can be sent:
// the URL must not be empty, and the sources of an answer not larger than 1 MiB.
func (p *Parser) Citable(url, title []byte) bool {
	p.sent.cited += len(url) + len(title) + len(`{"url":,"title":}`)
	return len(url) > 0 && p.sent.cited <= maxCited
}

// HasSources reports whether the item has sources that were not sent.
func (it *Item) HasSources() bool { return len(it.sources) > 0 }

// Close sends the end of an item, which has no events afterwards. A call without arguments
// gets an empty object.
func (p *Parser) Close(it *Item) {
	switch it.Kind {
	case event.Text:
		for i := range it.sources {
			s := &it.sources[i]
			s.Start, s.End = it.start, p.sent.characters
			p.Send(event.Event{Kind: event.Source, Source: s})
		}
	case event.Reasoning:
		p.Send(event.Event{Kind: event.ReasoningEnd})
	case event.ToolArgs:
		if !it.hasArgs {
			p.Send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: []byte("{}")})
		}
		p.Send(event.Event{Kind: event.ToolEnd, Tool: it.tool})
	}
	*it = Item{}
}

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
func (s *Sender) Open(kind event.Kind) Item {
	it := Item{Kind: kind, Part: s.sent.texts, start: s.sent.characters}
	if kind == event.Text {
		s.sent.texts++
	}
	return it
}

// OpenCall begins a tool call, with the raw strings of its id and its name; nil for none.
func (s *Sender) OpenCall(id, name []byte) Item {
	it := Item{Kind: event.ToolArgs, tool: s.sent.calls}
	s.sent.calls++
	s.Send(event.Event{Kind: event.ToolStart, Tool: it.tool, ID: jsonscan.DecodedOf(id), Name: jsonscan.DecodedOf(name)})
	return it
}

// Add sends a fragment of an item, a raw string at a position of the delta; see
// event.Sender.SendText. An empty or nil one has no effect.
func (s *Sender) Add(it *Item, raw []byte, slot jsonscan.Slot) {
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
	s.SendText(e, raw, slot)
}

// AddInput sends the arguments of a call that are raw JSON, and not a string; nil for none.
func (s *Sender) AddInput(it *Item, raw []byte) {
	if raw != nil {
		it.hasArgs = true
		s.Send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: jsonscan.AppendCompact(nil, raw)})
	}
}

// Cite keeps a web page as a source of the whole text of an item, which its end sends. Both
// texts are decoded, and kept. Cite reports whether the source can be sent: the item must be a
// text, and the page Citable.
func (s *Sender) Cite(it *Item, url, title []byte) bool {
	if !s.Citable(url, title) || it.Kind != event.Text {
		return false
	}
	if n := len(it.sources); n == 0 || !bytes.Equal(it.sources[n-1].URL, url) || !bytes.Equal(it.sources[n-1].Title, title) {
		it.sources = append(it.sources, event.Citation{URL: url, Title: title})
	}
	return true
}

// Citable counts a web page among the sources of the answer, and reports whether it can be sent:
// the URL must not be empty, and the sources of an answer not larger than 1 MiB.
func (s *Sender) Citable(url, title []byte) bool {
	s.sent.cited += len(url) + len(title) + len(`{"url":,"title":}`)
	return len(url) > 0 && s.sent.cited <= maxCited
}

// HasSources reports whether the item has sources that were not sent.
func (it *Item) HasSources() bool { return len(it.sources) > 0 }

// Close sends the end of an item, which has no events afterwards. A call without arguments
// gets an empty object.
func (s *Sender) Close(it *Item) {
	switch it.Kind {
	case event.Text:
		for i := range it.sources {
			source := &it.sources[i]
			source.Start, source.End = it.start, s.sent.characters
			s.Send(event.Event{Kind: event.Source, Source: source})
		}
	case event.Reasoning:
		s.Send(event.Event{Kind: event.ReasoningEnd})
	case event.ToolArgs:
		if !it.hasArgs {
			s.Send(event.Event{Kind: event.ToolArgs, Tool: it.tool, Text: []byte("{}")})
		}
		s.Send(event.Event{Kind: event.ToolEnd, Tool: it.tool})
	}
	*it = Item{}
}

// Switch returns the open item for a fragment of a kind, Text or Reasoning. An open item of
// another kind is closed before. It is for formats that do not mark where items begin.
func (s *Sender) Switch(open *Item, kind event.Kind) *Item {
	if open.Kind != kind {
		s.Close(open)
		*open = s.Open(kind)
	}
	return open
}

package singleanswer

import (
	"errors"
	"unicode/utf8"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Sender sends the core events of an answer of one turn, which consists of items: see Item.
type Sender struct {
	event.Sender
	sent sent
}

// sent counts what the events of an answer contain, and passes them on. It sends Start before
// the first event with content, for servers that do not announce an answer.
type sent struct {
	next       event.Handler
	usage      *token.Usage
	events     int
	started    bool
	texts      int
	calls      int
	cited      int // bytes of sources
	characters int // of text
}

// Handle passes an event on.
func (s *sent) Handle(e *event.Event) {
	s.events++
	switch e.Kind {
	case event.Start:
		s.started = true
	case event.Native, event.Failing, event.Error:
	default:
		if !s.started {
			s.started = true
			s.next.Handle(&event.Event{Kind: event.Start, Usage: s.usage})
		}
	}
	if e.Kind == event.Text {
		s.characters += utf8.RuneCount(e.Text)
	}
	s.next.Handle(e)
}

var errNothing = errors.New("an end without a beginning")

// Complete ends a complete answer. An answer that never began is a fault.
func (s *Sender) Complete() {
	if s.sent.events == 0 {
		s.Refuse(errNothing)
		return
	}
	s.Send(event.Event{Kind: event.End})
}

// Characters returns the number of characters of text that were sent.
func (s *Sender) Characters() int { return s.sent.characters }

// SendMedia sends media. It reports those at the path as dropped if they are nil: media that core
// events cannot express.
func (s *Sender) SendMedia(m *event.Media, path string, losses *translate.Dropped) {
	if m == nil {
		losses.DropContent(path)
		return
	}
	s.Send(event.Event{Kind: event.Inline, Media: m})
}

package event

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/internal/toolcall"
)

// Sequencer orders the events of one choice so that every tool call ends before
// anything else begins. Providers may interleave calls, and many do not mark the end
// of a call; events behind an open call wait for its end. A call ends at its ToolEnd,
// when its arguments are complete and an event waits behind it, or at the end of the
// answer. Arguments that break off end there only, since the answer may yet turn out to
// be cut off.
type Sequencer struct {
	next  func(*Event)
	room  int // bound of the bytes that wait
	calls []sequencedCall
	open  int     // the number of the open call, from 1; 0 for none
	queue []Event // waiting events, with memory of their own
	held  int     // bytes that wait
	fault *fault.Fault
}

// sequencedCall is the state of a call.
type sequencedCall struct {
	begun   bool // ToolStart was received
	free    bool // its arguments are a free text
	ended   bool // ToolEnd was received, or the answer has ended
	closed  bool // ToolEnd was handed on
	args    toolcall.Arguments
	waiting []byte // arguments not handed on yet
}

// eventSize is the size of a waiting event without its texts.
const eventSize = 256

var (
	errUnbegun = errors.New("arguments of a tool call that was not begun")
	errClosed  = errors.New("arguments behind the end of their tool call")
)

// NewSequencer returns a sequencer that hands events on to next. At most room bytes
// may wait behind an open call.
func NewSequencer(room int, next func(*Event)) *Sequencer {
	return &Sequencer{next: next, room: room}
}

// Fault returns the reason why the events cannot be ordered, nil if they can.
func (s *Sequencer) Fault() *fault.Fault { return s.fault }

// Handle hands on an event, or keeps it until an open call has ended.
func (s *Sequencer) Handle(e *Event) {
	if s.fault != nil {
		return
	}
	switch e.Kind {
	case ToolStart:
		s.start(e)
	case ToolArgs:
		s.arguments(e)
	case ToolEnd:
		s.endCall(e)
	default:
		s.other(e)
	}
}

// Flush ends all calls and hands on all waiting events. It is called at the end of the
// answer.
func (s *Sequencer) Flush() {
	for i := range s.calls {
		s.calls[i].ended = true
	}
	s.advance()
}

// waiting reports whether the next event has to wait.
func (s *Sequencer) waiting() bool { return s.open > 0 || len(s.queue) > 0 }

// start begins a call, unless it has begun.
func (s *Sequencer) start(e *Event) {
	for len(s.calls) <= e.Tool {
		s.calls = append(s.calls, sequencedCall{})
	}
	c := &s.calls[e.Tool]
	if c.begun {
		return
	}
	c.begun, c.free = true, e.Custom
	if !s.waiting() {
		s.begin(e)
		return
	}
	s.push(e)
	s.advance()
}

// arguments hands on a fragment of arguments, or keeps the fragment until its call is
// open.
func (s *Sequencer) arguments(e *Event) {
	if e.Tool >= len(s.calls) || !s.calls[e.Tool].begun {
		s.fault = fault.Unusable(errUnbegun)
		return
	}
	c := &s.calls[e.Tool]
	if c.closed {
		if !blank(e.Text) {
			s.fault = fault.Unusable(errClosed)
		}
		return
	}
	c.args.Add(e.Text)
	if s.open == e.Tool+1 {
		s.next(e)
	} else {
		c.waiting = append(c.waiting, e.Text...)
		s.hold(len(e.Text))
	}
	if len(s.queue) > 0 {
		s.advance()
	}
}

// other hands on or queues an event that belongs to no call. Some servers send line
// ends between tool calls. They are left out, since text of nothing but white space
// is refused when the client sends it back.
func (s *Sequencer) other(e *Event) {
	switch {
	case !s.waiting():
		s.next(e)
		return
	case s.joins(e):
		last := &s.queue[len(s.queue)-1]
		last.Text = append(last.Text, e.Text...)
		s.hold(len(e.Text))
	case e.Kind != Text || !blank(e.Text):
		s.push(e)
	}
	s.advance()
}

// joins reports whether an event continues the text of the last waiting event.
func (s *Sequencer) joins(e *Event) bool {
	if len(s.queue) == 0 || e.Kind != Text && e.Kind != Reasoning {
		return false
	}
	last := &s.queue[len(s.queue)-1]
	return last.Kind == e.Kind && last.Part == e.Part && last.Refusal == e.Refusal
}

// push queues an event.
func (s *Sequencer) push(e *Event) {
	s.queue = append(s.queue, e.clone())
	s.hold(e.size())
}

// hold counts waiting bytes.
func (s *Sequencer) hold(n int) {
	if s.held += n; s.held > s.room {
		s.fault = fault.Unusable(fmt.Errorf("more than %d bytes behind an open tool call", s.room))
	}
}

// advance hands on waiting events up to a call that stays open.
func (s *Sequencer) advance() {
	for s.fault == nil {
		if s.open > 0 && !s.end() || len(s.queue) == 0 {
			return
		}
		e := s.queue[0]
		s.queue = s.queue[1:]
		s.held -= e.size()
		if e.Kind == ToolStart {
			s.begin(&e)
		} else {
			s.next(&e)
		}
	}
}

// endCall ends a call, unless its arguments break off.
func (s *Sequencer) endCall(e *Event) {
	if e.Tool >= len(s.calls) {
		return
	}
	c := &s.calls[e.Tool]
	if c.free || !c.args.Open() {
		c.ended = true
		s.advance()
	}
}

// end ends the open call, unless it may continue.
func (s *Sequencer) end() bool {
	c := &s.calls[s.open-1]
	if !c.ended && (len(s.queue) == 0 || !c.args.Complete()) {
		return false
	}
	c.closed = true
	ended := s.open - 1
	s.open = 0
	s.next(&Event{Kind: ToolEnd, Tool: ended})
	return true
}

// begin hands on the start of a call, and its waiting arguments.
func (s *Sequencer) begin(e *Event) {
	s.open = e.Tool + 1
	s.next(e)
	c := &s.calls[e.Tool]
	if len(c.waiting) == 0 {
		return
	}
	s.held -= len(c.waiting)
	waiting := c.waiting
	c.waiting = nil
	s.next(&Event{Kind: ToolArgs, Tool: e.Tool, Text: waiting})
}

// clone returns the event with memory of its own.
func (e *Event) clone() Event {
	c := *e
	c.ID, c.Name, c.Text, c.Logprobs = bytes.Clone(e.ID), bytes.Clone(e.Name), bytes.Clone(e.Text), bytes.Clone(e.Logprobs)
	if e.Source != nil {
		c.Source = &Citation{bytes.Clone(e.Source.URL), bytes.Clone(e.Source.Title), e.Source.Start, e.Source.End}
	}
	if e.Media != nil {
		c.Media = &Media{bytes.Clone(e.Media.Type), bytes.Clone(e.Media.Data), bytes.Clone(e.Media.URL), e.Media.Path}
	}
	return c
}

// size returns the size of a waiting event.
func (e *Event) size() int {
	size := eventSize + len(e.ID) + len(e.Name) + len(e.Text) + len(e.Logprobs)
	if e.Source != nil {
		size += len(e.Source.URL) + len(e.Source.Title)
	}
	if e.Media != nil {
		size += len(e.Media.Type) + len(e.Media.Data) + len(e.Media.URL)
	}
	return size
}

// blank reports whether a text is nothing but white space.
func blank(text []byte) bool { return len(bytes.TrimLeft(text, " \n\t\r")) == 0 }

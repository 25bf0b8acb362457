package translatetest

import (
	"errors"
	"fmt"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
)

// Laws is a handler that checks the core events of a parser. It keeps the first event
// that breaks a law on which emitters rely: no empty text, calls by number without gaps
// and in order, no count below zero, one end and nothing after it.
type Laws struct {
	Ended bool // by the event End or Error

	calls map[int][]bool // by choice, whether each has ended
	err   error
}

// NewLaws returns a checker for one answer.
func NewLaws() *Laws { return &Laws{calls: map[int][]bool{}} }

// Err returns the first broken law, nil for none.
func (l *Laws) Err() error { return l.err }

// Handle checks the next event.
func (l *Laws) Handle(e *event.Event) {
	if err := l.judge(e); err != nil && l.err == nil {
		l.err = fmt.Errorf("event %d of choice %d, call %d: %w", e.Kind, e.Choice, e.Tool, err)
	}
}

func (l *Laws) judge(e *event.Event) error {
	if l.Ended {
		return errors.New("behind the end")
	}
	l.Ended = e.Kind == event.Error || e.Kind == event.End
	switch e.Kind {
	case event.Error:
		if e.Fault == nil || e.Fault.Message == "" {
			return errors.New("a fault without a message")
		}
	case event.Usage:
		if u := e.Usage; u == nil || min(u.Fresh, u.CacheRead, u.CacheWrite, u.CacheWriteLong, u.Answer, u.Reasoning) < 0 {
			return fmt.Errorf("usage %+v", u)
		}
	case event.Text, event.Reasoning:
		if len(e.Text) == 0 {
			return errors.New("an empty text")
		}
	case event.ToolStart, event.ToolArgs, event.ToolEnd:
		return l.judgeCall(e)
	}
	return nil
}

func (l *Laws) judgeCall(e *event.Event) error {
	calls := l.calls[e.Choice]
	switch {
	case e.Kind == event.ToolStart && e.Tool != len(calls):
		return errors.New("not the next call")
	case e.Kind == event.ToolStart:
		l.calls[e.Choice] = append(calls, false)
	case e.Tool < 0 || e.Tool >= len(calls) || calls[e.Tool]:
		return errors.New("not a call that was begun")
	case e.Kind == event.ToolEnd:
		calls[e.Tool] = true
	case len(e.Text) == 0:
		return errors.New("an empty fragment")
	}
	return nil
}

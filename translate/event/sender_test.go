package event_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// received writes the kinds and the texts of events down.
type received []string

func (r *received) Handle(e *event.Event) { *r = append(*r, fmt.Sprintf("%d %s", e.Kind, e.Text)) }

var delta = sse.Event{Name: []byte("delta"), Data: []byte(`{"text":"a"}`)}

func TestNothingIsSentBehindAnEnd(t *testing.T) {
	for _, end := range []func(s *event.Sender){
		func(s *event.Sender) { s.Send(event.Event{Kind: event.End}) },
		func(s *event.Sender) { s.Fail(fault.Truncated(nil)) },
	} {
		var got received
		s := event.NewSender(&got)
		s.SendText(event.Event{Kind: event.Text}, []byte(`"a\n"`), jsonscan.Slot{})
		s.SendText(event.Event{Kind: event.Text}, []byte(`""`), jsonscan.Slot{})
		s.SendText(event.Event{Kind: event.Text}, nil, jsonscan.Slot{})
		assert.False(t, s.Over())
		end(&s)
		assert.True(t, s.Over())
		s.Send(event.Event{Kind: event.Text})
		s.Fail(fault.Truncated(nil))
		assert.Len(t, got, 2)
		assert.Equal(t, fmt.Sprintf("%d a\n", event.Text), got[0])
	}
}

// A delta that became more than one text would lose the rest if its shape were learned.
func TestOnlyDeltasOfOneTextAreRepeated(t *testing.T) {
	text, slot := event.Event{Kind: event.Text}, jsonscan.Slot{Start: 8, End: 11}
	for name, tt := range map[string]struct {
		send    func(s *event.Sender)
		repeats bool
	}{
		"one text":        {func(s *event.Sender) { s.SendText(text, []byte(`"a"`), slot) }, true},
		"two events":      {func(s *event.Sender) { s.Send(text); s.SendText(text, []byte(`"a"`), slot) }, false},
		"nothing":         {func(*event.Sender) {}, false},
		"no position":     {func(s *event.Sender) { s.SendText(text, []byte(`"a"`), jsonscan.Slot{}) }, false},
		"something else":  {func(s *event.Sender) { s.SendText(text, []byte(`"a"`), slot); s.Differ() }, false},
		"the end as well": {func(s *event.Sender) { s.SendText(text, []byte(`"a"`), slot); s.Send(event.Event{Kind: event.End}) }, false},
	} {
		var got received
		s := event.NewSender(&got)
		s.Begin()
		tt.send(&s)
		s.Learn(delta)
		sent := len(got)
		e := s.Repeat([]byte("delta"), []byte(`{"text":"b"}`))
		if assert.Equal(t, tt.repeats, e != nil, name); !tt.repeats {
			assert.Len(t, got, sent, name)
			continue
		}
		assert.Equal(t, "b", string(e.Text))
		assert.Equal(t, fmt.Sprintf("%d b", event.Text), got[sent])
		s.Begin()
		assert.Nil(t, s.Repeat(delta.Name, delta.Data), "the shape of a delta that came in between is not known")
	}
}

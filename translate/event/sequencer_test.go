package event_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
)

// sequenced returns what a sequencer makes of events, one a line, and its fault.
// The memory of each event is written over as soon as it was handled.
func sequenced(room int, events []event.Event) (lines []string, fault *fault.Fault) {
	s := event.NewSequencer(room, func(e *event.Event) {
		line := fmt.Sprintf("%s %d %s%s%s", words[e.Kind], e.Tool, e.Name, e.Text, e.Logprobs)
		if e.Source != nil {
			line += string(e.Source.URL)
		}
		lines = append(lines, line)
	})
	for _, e := range events {
		e.Text, e.Name = slices.Clone(e.Text), slices.Clone(e.Name)
		s.Handle(&e)
		clear(e.Text)
		clear(e.Name)
	}
	s.Flush()
	return lines, s.Fault()
}

var words = map[event.Kind]string{
	event.Text: "text", event.TextEnd: "text end", event.Reasoning: "reasoning",
	event.Signature: "signature", event.ReasoningEnd: "reasoning end", event.Source: "source",
	event.Logprobs: "logprobs", event.ToolStart: "tool", event.ToolArgs: "args", event.ToolEnd: "tool end",
}

func says(kind event.Kind, text string) event.Event {
	return event.Event{Kind: kind, Text: []byte(text)}
}

func calls(tool int, name string) event.Event {
	return event.Event{Kind: event.ToolStart, Tool: tool, Name: []byte(name)}
}

func args(tool int, text string) event.Event {
	return event.Event{Kind: event.ToolArgs, Tool: tool, Text: []byte(text)}
}

func ends(tool int) event.Event { return event.Event{Kind: event.ToolEnd, Tool: tool} }

func text(text string) event.Event { return says(event.Text, text) }

func TestCallsDoNotOverlap(t *testing.T) {
	for name, tt := range map[string]struct {
		events []event.Event
		want   string
	}{
		"what waits for nothing": {
			[]event.Event{text("a"), {Kind: event.TextEnd}, text("b")}, "text 0 a|text end 0 |text 0 b",
		},
		"calls that overlap": {
			[]event.Event{calls(0, "f"), calls(1, "g"), args(1, "{"), args(0, "{}"), args(1, "}")},
			"tool 0 f|args 0 {}|tool end 0 |tool 1 g|args 1 {|args 1 }|tool end 1 ",
		},
		"ends that the provider tells": {
			[]event.Event{calls(0, "f"), calls(1, "g"), ends(1), ends(0), text("a")},
			"tool 0 f|tool end 0 |tool 1 g|tool end 1 |text 0 a",
		},
		"a text behind arguments that are complete": {
			[]event.Event{calls(0, "f"), args(0, "{}"), text("a"), text("b")}, "tool 0 f|args 0 {}|tool end 0 |text 0 a|text 0 b",
		},
		"all kinds that wait": {
			[]event.Event{
				calls(0, "f"), args(0, "{"), text("a"), text("b"), {Kind: event.TextEnd}, text("c"),
				says(event.Reasoning, "d"), says(event.Reasoning, "e"), says(event.Signature, "s"), {Kind: event.ReasoningEnd},
				{Kind: event.Logprobs, Logprobs: []byte("[]")}, {Kind: event.Source, Source: &event.Citation{URL: []byte("u")}},
			},
			"tool 0 f|args 0 {|tool end 0 |text 0 ab|text end 0 |text 0 c|reasoning 0 de|signature 0 s|reasoning end 0 |logprobs 0 []|source 0 u",
		},
		"parts are kept apart": {
			[]event.Event{calls(0, "f"), text("a"), {Kind: event.Text, Text: []byte("b"), Part: 1}, {Kind: event.Text, Text: []byte("c"), Refusal: true}},
			"tool 0 f|tool end 0 |text 0 a|text 0 b|text 0 c",
		},
		"space between calls": {
			[]event.Event{calls(0, "f"), text("\n"), calls(1, "g"), text(" \r\t"), args(0, "{}")}, "tool 0 f|args 0 {}|tool end 0 |tool 1 g|tool end 1 ",
		},
		"a call that is begun twice": {
			[]event.Event{calls(0, "f"), calls(0, "g"), ends(0), ends(7)}, "tool 0 f|tool end 0 ",
		},
		// The provider ends the call before it reports that the limit cut the call off.
		"a call that breaks off": {
			[]event.Event{calls(0, "f"), args(0, `{"x`), ends(0), text("a"), calls(1, "g"), args(1, "1"), ends(1)},
			`tool 0 f|args 0 {"x|tool end 0 |text 0 a|tool 1 g|args 1 1|tool end 1 `,
		},
		"a free text that looks like one": {
			[]event.Event{{Kind: event.ToolStart, Name: []byte("f"), Custom: true}, args(0, `{"x`), ends(0), args(0, " ")}, `tool 0 f|args 0 {"x|tool end 0 `,
		},
		"space behind the end": {
			[]event.Event{calls(0, "f"), args(0, "{}"), ends(0), args(0, " ")}, "tool 0 f|args 0 {}|tool end 0 ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines, fault := sequenced(1<<20, tt.events)
			require.Nil(t, fault)
			assert.Equal(t, tt.want, strings.Join(lines, "|"))
		})
	}
}

func TestASequencerRefusesWhatHasNoPlace(t *testing.T) {
	many := []event.Event{calls(0, "f")}
	for range 9 {
		many = append(many, event.Event{Kind: event.TextEnd})
	}
	for name, tt := range map[string]struct {
		events []event.Event
		cause  string
	}{
		"arguments of no call":           {[]event.Event{args(0, "{}")}, "arguments of a tool call that was not begun"},
		"arguments behind an end":        {[]event.Event{calls(0, "f"), ends(0), args(0, "{}")}, "arguments behind the end of their tool call"},
		"too long a text":                {[]event.Event{calls(0, "f"), text(strings.Repeat("a", 2000))}, "more than 2000 bytes behind an open tool call"},
		"arguments of a call that waits": {[]event.Event{calls(0, "f"), calls(1, "g"), args(1, strings.Repeat("a", 2000))}, "more than 2000 bytes behind an open tool call"},
		"events without any bytes":       {many, "more than 2000 bytes behind an open tool call"},
	} {
		_, fault := sequenced(2000, tt.events)
		require.NotNil(t, fault, name)
		assert.EqualError(t, fault.Cause, tt.cause, name)
	}
}

// TestWhatWaitedGivesItsRoomBack ensures that the bound is one of what waits at a
// time, and not of all that ever waited.
func TestWhatWaitedGivesItsRoomBack(t *testing.T) {
	var events []event.Event
	for i := range 100 {
		events = append(events, calls(i, "f"), text(strings.Repeat("a", 500)), ends(i))
	}
	lines, fault := sequenced(2000, events)
	require.Nil(t, fault)
	assert.Len(t, lines, 300)
}

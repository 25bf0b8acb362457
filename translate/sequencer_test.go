package translate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// sequenced returns what a sequencer makes of events, one a line, and its fault.
// The memory of each event is written over as soon as it was handled.
func sequenced(room int, events []translate.Event) (lines []string, fault *translate.Fault) {
	s := translate.NewSequencer(room, func(e *translate.Event) {
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

var words = map[translate.EventKind]string{
	translate.EventText: "text", translate.EventTextEnd: "text end", translate.EventReasoning: "reasoning",
	translate.EventSignature: "signature", translate.EventReasoningEnd: "reasoning end", translate.EventSource: "source",
	translate.EventLogprobs: "logprobs", translate.EventToolStart: "tool", translate.EventToolArgs: "args", translate.EventToolEnd: "tool end",
}

func says(kind translate.EventKind, text string) translate.Event {
	return translate.Event{Kind: kind, Text: []byte(text)}
}

func calls(tool int, name string) translate.Event {
	return translate.Event{Kind: translate.EventToolStart, Tool: tool, Name: []byte(name)}
}

func args(tool int, text string) translate.Event {
	return translate.Event{Kind: translate.EventToolArgs, Tool: tool, Text: []byte(text)}
}

func ends(tool int) translate.Event { return translate.Event{Kind: translate.EventToolEnd, Tool: tool} }

func text(text string) translate.Event { return says(translate.EventText, text) }

func TestNothingStandsBetweenTheBeginningAndTheEndOfACall(t *testing.T) {
	for name, tt := range map[string]struct {
		events []translate.Event
		want   string
	}{
		"what waits for nothing": {
			[]translate.Event{text("a"), {Kind: translate.EventTextEnd}, text("b")}, "text 0 a|text end 0 |text 0 b",
		},
		"calls that overlap": {
			[]translate.Event{calls(0, "f"), calls(1, "g"), args(1, "{"), args(0, "{}"), args(1, "}")},
			"tool 0 f|args 0 {}|tool end 0 |tool 1 g|args 1 {|args 1 }|tool end 1 ",
		},
		"ends that the provider tells": {
			[]translate.Event{calls(0, "f"), calls(1, "g"), ends(1), ends(0), text("a")},
			"tool 0 f|tool end 0 |tool 1 g|tool end 1 |text 0 a",
		},
		"a text behind arguments that are complete": {
			[]translate.Event{calls(0, "f"), args(0, "{}"), text("a"), text("b")}, "tool 0 f|args 0 {}|tool end 0 |text 0 a|text 0 b",
		},
		"all kinds that wait": {
			[]translate.Event{
				calls(0, "f"), args(0, "{"), text("a"), text("b"), {Kind: translate.EventTextEnd}, text("c"),
				says(translate.EventReasoning, "d"), says(translate.EventReasoning, "e"), says(translate.EventSignature, "s"), {Kind: translate.EventReasoningEnd},
				{Kind: translate.EventLogprobs, Logprobs: []byte("[]")}, {Kind: translate.EventSource, Source: &translate.Source{URL: []byte("u")}},
			},
			"tool 0 f|args 0 {|tool end 0 |text 0 ab|text end 0 |text 0 c|reasoning 0 de|signature 0 s|reasoning end 0 |logprobs 0 []|source 0 u",
		},
		"parts are kept apart": {
			[]translate.Event{calls(0, "f"), text("a"), {Kind: translate.EventText, Text: []byte("b"), Part: 1}, {Kind: translate.EventText, Text: []byte("c"), Refusal: true}},
			"tool 0 f|tool end 0 |text 0 a|text 0 b|text 0 c",
		},
		"space between calls": {
			[]translate.Event{calls(0, "f"), text("\n"), calls(1, "g"), text(" \r\t"), args(0, "{}")}, "tool 0 f|args 0 {}|tool end 0 |tool 1 g|tool end 1 ",
		},
		"a call that is begun twice": {
			[]translate.Event{calls(0, "f"), calls(0, "g"), ends(0), ends(7)}, "tool 0 f|tool end 0 ",
		},
		"space behind the end": {
			[]translate.Event{calls(0, "f"), args(0, "{}"), ends(0), args(0, " ")}, "tool 0 f|args 0 {}|tool end 0 ",
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
	many := []translate.Event{calls(0, "f")}
	for range 9 {
		many = append(many, translate.Event{Kind: translate.EventTextEnd})
	}
	for name, tt := range map[string]struct {
		events []translate.Event
		cause  string
	}{
		"arguments of no call":           {[]translate.Event{args(0, "{}")}, "arguments of a tool call that was not begun"},
		"arguments behind an end":        {[]translate.Event{calls(0, "f"), ends(0), args(0, "{}")}, "arguments behind the end of their tool call"},
		"too long a text":                {[]translate.Event{calls(0, "f"), text(strings.Repeat("a", 2000))}, "more than 2000 bytes behind an open tool call"},
		"arguments of a call that waits": {[]translate.Event{calls(0, "f"), calls(1, "g"), args(1, strings.Repeat("a", 2000))}, "more than 2000 bytes behind an open tool call"},
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
	var events []translate.Event
	for i := range 100 {
		events = append(events, calls(i, "f"), text(strings.Repeat("a", 500)), ends(i))
	}
	lines, fault := sequenced(2000, events)
	require.Nil(t, fault)
	assert.Len(t, lines, 300)
}

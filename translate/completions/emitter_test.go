package completions_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
)

func begins() translate.Event {
	return translate.Event{Kind: translate.EventStart, Model: []byte("m"), Created: 7, Usage: &translate.Usage{}}
}

func says(choice int, text string) translate.Event {
	return translate.Event{Kind: translate.EventText, Choice: choice, Text: []byte(text)}
}

func weighs(choice int, list string) translate.Event {
	return translate.Event{Kind: translate.EventLogprobs, Choice: choice, Logprobs: []byte(list)}
}

func finishes(choice int, reason translate.FinishReason) translate.Event {
	return translate.Event{Kind: translate.EventFinish, Choice: choice, Finish: reason}
}

var (
	theEnd = translate.Event{Kind: translate.EventEnd}
	counts = translate.Event{Kind: translate.EventUsage, Usage: &translate.Usage{Input: 100, CacheRead: 900, CacheWrite: 7, Output: 12, Reasoning: 4, Known: true}}
)

// emit writes events, between a start and the end, for a client. One step of a
// parser may give several events: those of one inner list are one step.
func emit(m translate.Memory, steps ...[]translate.Event) (string, *translate.Fault) {
	e := completions.NewEmitter(&m, translate.IDs{Message: "cmpl-1", Created: 5, Model: "asked"})
	var out strings.Builder
	for _, step := range append(append([][]translate.Event{{begins()}}, steps...), []translate.Event{theEnd}) {
		for i := range step {
			e.Handle(&step[i])
		}
		out.Write(e.Output())
	}
	return out.String(), e.Fault()
}

// each makes every event a step of its own.
func each(events ...translate.Event) (steps [][]translate.Event) {
	for _, e := range events {
		steps = append(steps, []translate.Event{e})
	}
	return steps
}

const (
	frame    = `{"id":"cmpl-1","object":"text_completion","created":7,"model":"m","choices":[`
	noUsage  = `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0,"text_tokens":0,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"text_tokens":0,"audio_tokens":0,"reasoning_tokens":0}}`
	allUsage = `"usage":{"prompt_tokens":1007,"completion_tokens":12,"total_tokens":1019,"prompt_tokens_details":{"cached_tokens":900,"text_tokens":1007,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":7},"completion_tokens_details":{"text_tokens":8,"audio_tokens":0,"reasoning_tokens":4}}`
	done     = "data: [DONE]\n\n"
)

// chunk is a chunk with one choice.
func chunk(choice string) string { return "data: " + frame + choice + "]}\n\n" }

var emitted = []struct {
	name   string
	memory translate.Memory
	steps  [][]translate.Event
	stream string
	answer string // the choices
}{
	{
		"nothing", translate.Memory{}, nil,
		chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"text", translate.Memory{}, each(says(0, "<a>"), says(0, "é\n"), finishes(0, translate.FinishLength)),
		chunk(`{"text":"<a>","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"é\n","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"length"}`) + done,
		`{"text":"<a>é\n","index":0,"logprobs":null,"finish_reason":"length"}`,
	},
	{
		"echo", translate.Memory{Echo: []byte("Once \"")}, each(says(0, "upon"), finishes(0, translate.FinishStop)),
		chunk(`{"text":"Once \"","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"upon","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"Once \"upon","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"echo of an answer that says nothing", translate.Memory{Echo: []byte("Once")}, each(finishes(0, translate.FinishFiltered)),
		chunk(`{"text":"Once","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"content_filter"}`) + done,
		`{"text":"Once","index":0,"logprobs":null,"finish_reason":"content_filter"}`,
	},
	{
		"two choices", translate.Memory{Echo: []byte("p")}, each(says(1, "b"), says(0, "a"), finishes(1, translate.FinishLength), finishes(0, translate.FinishStop)),
		chunk(`{"text":"p","index":1,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"b","index":1,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"p","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) +
			chunk(`{"text":"","index":1,"logprobs":null,"finish_reason":"length"}`) + done,
		`{"text":"pa","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"pb","index":1,"logprobs":null,"finish_reason":"length"}`,
	},
	{
		"a gap among the choices", translate.Memory{}, each(says(2, "c"), says(0, "a")),
		chunk(`{"text":"c","index":2,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) +
			chunk(`{"text":"","index":2,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"c","index":2,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"two texts", translate.Memory{}, each(translate.Event{Kind: translate.EventTextEnd}, says(0, "a"), translate.Event{Kind: translate.EventTextEnd}, says(0, "b")),
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"\n\n","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"b","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a\n\nb","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"reasoning, tools and signatures have no place",
		translate.Memory{}, each(
			translate.Event{Kind: translate.EventReasoning, Text: []byte("r")}, translate.Event{Kind: translate.EventSignature, Text: []byte("s")},
			translate.Event{Kind: translate.EventReasoningEnd}, translate.Event{Kind: translate.EventRedacted, Text: []byte("d")},
			translate.Event{Kind: translate.EventToolStart, Name: []byte("f")}, translate.Event{Kind: translate.EventToolArgs, Text: []byte("{}")},
			translate.Event{Kind: translate.EventToolEnd}, weighs(0, `[{"token":"a","logprob":-1}]`), says(0, "a"),
		),
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"a refusal is text", translate.Memory{}, each(translate.Event{Kind: translate.EventText, Text: []byte("no"), Refusal: true}, finishes(0, translate.FinishFiltered)),
		chunk(`{"text":"no","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"content_filter"}`) + done,
		`{"text":"no","index":0,"logprobs":null,"finish_reason":"content_filter"}`,
	},
	{
		"log probabilities",
		translate.Memory{Logprobs: true, TopLogprobs: 2, PromptLength: 10},
		[][]translate.Event{
			{says(0, "éa"), weighs(0, `[{"token":"é","bytes":[195,169],"logprob":-0.10,"top_logprobs":[{"token":"é","logprob":-0.10},{"token":"x","logprob":-2},{"token":"y","logprob":-3}]},{"token":"a","logprob":null,"top_logprobs":[]}]`)},
			{says(0, "b"), weighs(0, `[{"token":"b","logprob":-1e-3,"top_logprobs":[{"token":"b","logprob":-1e-3},{"token":"b","logprob":-9}]}]`)},
			{finishes(0, translate.FinishStop)},
		},
		chunk(`{"text":"éa","index":0,"logprobs":{"tokens":["é","a"],"token_logprobs":[-0.10,null],"top_logprobs":[{"é":-0.10,"x":-2},{}],"text_offset":[10,11]},"finish_reason":null}`) +
			chunk(`{"text":"b","index":0,"logprobs":{"tokens":["b"],"token_logprobs":[-1e-3],"top_logprobs":[{"b":-1e-3}],"text_offset":[12]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"éab","index":0,"logprobs":{"tokens":["é","a","b"],"token_logprobs":[-0.10,null,-1e-3],"top_logprobs":[{"é":-0.10,"x":-2},{},{"b":-1e-3}],"text_offset":[10,11,12]},"finish_reason":"stop"}`,
	},
	{
		"log probabilities without alternatives",
		translate.Memory{Logprobs: true},
		[][]translate.Event{{says(0, "a"), weighs(0, `[{"token":"a","logprob":-1,"top_logprobs":[{"token":"a","logprob":-1}]},7,{"x":1}]`)}},
		chunk(`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":"stop"}`,
	},
	{
		"log probabilities whose text was handed over", translate.Memory{Logprobs: true},
		each(says(0, "a"), weighs(0, `[{"token":"a","logprob":-1}]`)),
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":"stop"}`,
	},
	{
		"log probabilities of two choices in one step",
		translate.Memory{Logprobs: true},
		[][]translate.Event{{says(0, "a"), says(1, "b"), weighs(0, `[{"token":"a","logprob":-1}]`), weighs(1, `[{"token":"b","logprob":-2}]`)}},
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"b","index":1,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":null}`) +
			chunk(`{"text":"","index":1,"logprobs":{"tokens":["b"],"token_logprobs":[-2],"top_logprobs":null,"text_offset":[0]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) +
			chunk(`{"text":"","index":1,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":"stop"},` +
			`{"text":"b","index":1,"logprobs":{"tokens":["b"],"token_logprobs":[-2],"top_logprobs":null,"text_offset":[0]},"finish_reason":"stop"}`,
	},
}

func TestEventsAreWrittenByTheGrammar(t *testing.T) {
	for _, tt := range emitted {
		t.Run(tt.name, func(t *testing.T) {
			streaming := tt.memory
			streaming.Stream = true
			stream, fault := emit(streaming, tt.steps...)
			require.Nil(t, fault)
			assert.Equal(t, tt.stream, stream)

			body, fault := emit(tt.memory, tt.steps...)
			require.Nil(t, fault)
			assert.Equal(t, frame+tt.answer+"],"+noUsage+"}", body)

			streaming.IncludeUsage = true
			stream, _ = emit(streaming, tt.steps...)
			added, err := translatetest.Completion([]byte(stream), true)
			require.NoError(t, err)
			answer, err := translatetest.Decode([]byte(body))
			require.NoError(t, err)
			assert.Equal(t, answer, added)
		})
	}
}

func TestUsageIsToldOnceAndOnlyIfAskedFor(t *testing.T) {
	steps := each(says(0, "a"), counts, finishes(0, translate.FinishStop), counts)
	stream, _ := emit(translate.Memory{Stream: true, IncludeUsage: true}, steps...)
	assert.Equal(t, "data: "+frame+`{"text":"a","index":0,"logprobs":null,"finish_reason":null}],"usage":null}`+"\n\n"+
		"data: "+frame+`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":null}`+"\n\n"+
		"data: "+frame+"],"+allUsage+"}\n\n"+done, stream)

	stream, _ = emit(translate.Memory{Stream: true}, steps...)
	assert.NotContains(t, stream, "usage")

	body, _ := emit(translate.Memory{}, steps...)
	assert.True(t, strings.HasSuffix(body, `"finish_reason":"stop"}],`+allUsage+"}"), body)
}

func TestFinishReasonsFollowTheirTable(t *testing.T) {
	for reason, want := range map[translate.FinishReason]string{
		translate.FinishUnknown: "stop", translate.FinishStop: "stop", translate.FinishLength: "length",
		translate.FinishFiltered: "content_filter", translate.FinishPaused: "length", translate.FinishTools: "stop",
	} {
		body, fault := emit(translate.Memory{}, each(finishes(0, reason))...)
		require.Nil(t, fault)
		assert.Contains(t, body, `"finish_reason":"`+want+`"`)
	}
	for _, stream := range []bool{true, false} {
		out, fault := emit(translate.Memory{Stream: stream}, each(translate.Event{Kind: translate.EventToolStart}, finishes(0, translate.FinishTools))...)
		require.NotNil(t, fault)
		assert.Equal(t, translate.BadGateway, fault.Kind)
		assert.NotContains(t, out, "DONE")
	}
}

func TestWhatTheProviderDoesNotTellComesFromOutside(t *testing.T) {
	e := completions.NewEmitter(&translate.Memory{}, translate.IDs{Message: "cmpl-1", Created: 5, Model: "asked"})
	e.Handle(&translate.Event{Kind: translate.EventStart})
	e.Handle(&theEnd)
	assert.Contains(t, string(e.Output()), `{"id":"cmpl-1","object":"text_completion","created":5,"model":"asked"`)
}

func TestNothingOfAnAnswerIsShownBeforeItsEnd(t *testing.T) {
	e := completions.NewEmitter(&translate.Memory{Echo: []byte("p")}, translate.IDs{})
	for _, event := range []translate.Event{begins(), says(0, "a"), finishes(0, translate.FinishStop)} {
		e.Handle(&event)
		assert.Empty(t, e.Output())
	}
	e.Handle(&theEnd)
	assert.NotEmpty(t, e.Output())
	assert.Empty(t, e.Output())
}

package answer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

var counts = event.Event{Kind: event.Usage, Usage: &token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 900, CacheWrite: 7, Answer: 8, Reasoning: 4}, Known: true}}

// emit writes events, between a start and the end, for a client. Each inner list is one
// step, as a parser may send several events for one event of the provider.
func emit(m translate.AnswerContext, steps ...[]event.Event) (string, *fault.Fault) {
	steps = append(append([][]event.Event{{tell.Start}}, steps...), []event.Event{tell.End})
	return translatetest.Emit(answer.NewEmitter(&m, translatetest.IDs("cmpl-1", "call_")), steps...)
}

var each = translatetest.Each

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
	memory translate.AnswerContext
	steps  [][]event.Event
	stream string
	answer string // the choices
}{
	{
		"nothing", translate.AnswerContext{}, nil,
		chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"text", translate.AnswerContext{}, each(tell.Text("<a>"), tell.Text("é\n"), tell.Finish(event.FinishLength)),
		chunk(`{"text":"<a>","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"é\n","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"length"}`) + done,
		`{"text":"<a>é\n","index":0,"logprobs":null,"finish_reason":"length"}`,
	},
	{
		"echo", translate.AnswerContext{Input: translate.Input{Echo: []byte("Once \"")}}, each(tell.Text("upon"), tell.Finish(event.FinishStop)),
		chunk(`{"text":"Once \"","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"upon","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"Once \"upon","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"echo of an answer that says nothing", translate.AnswerContext{Input: translate.Input{Echo: []byte("Once")}}, each(tell.Finish(event.FinishFiltered)),
		chunk(`{"text":"Once","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"content_filter"}`) + done,
		`{"text":"Once","index":0,"logprobs":null,"finish_reason":"content_filter"}`,
	},
	{
		"two choices", translate.AnswerContext{Input: translate.Input{Echo: []byte("p")}}, each(tell.In(1, tell.Text("b")), tell.Text("a"), tell.In(1, tell.Finish(event.FinishLength)), tell.Finish(event.FinishStop)),
		chunk(`{"text":"p","index":1,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"b","index":1,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"p","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) +
			chunk(`{"text":"","index":1,"logprobs":null,"finish_reason":"length"}`) + done,
		`{"text":"pa","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"pb","index":1,"logprobs":null,"finish_reason":"length"}`,
	},
	{
		"a gap among the choices", translate.AnswerContext{}, each(tell.In(2, tell.Text("c")), tell.Text("a")),
		chunk(`{"text":"c","index":2,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) +
			chunk(`{"text":"","index":2,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":null,"finish_reason":"stop"},{"text":"c","index":2,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"two texts", translate.AnswerContext{}, each(event.Event{Kind: event.TextEnd}, tell.Text("a"), event.Event{Kind: event.TextEnd}, tell.Text("b")),
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"\n\n","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"b","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a\n\nb","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"reasoning, tools and signatures have no place",
		translate.AnswerContext{}, each(
			event.Event{Kind: event.Reasoning, Text: []byte("r")}, event.Event{Kind: event.Signature, Text: []byte("s")},
			event.Event{Kind: event.ReasoningEnd}, event.Event{Kind: event.Redacted, Text: []byte("d")},
			event.Event{Kind: event.ToolStart, Name: []byte("f")}, event.Event{Kind: event.ToolArgs, Text: []byte("{}")},
			event.Event{Kind: event.ToolEnd}, tell.Logprobs(`[{"token":"a","logprob":-1}]`), tell.Text("a"),
		),
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":null,"finish_reason":"stop"}`,
	},
	{
		"a refusal is text", translate.AnswerContext{}, each(event.Event{Kind: event.Text, Text: []byte("no"), Refusal: true}, tell.Finish(event.FinishFiltered)),
		chunk(`{"text":"no","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"content_filter"}`) + done,
		`{"text":"no","index":0,"logprobs":null,"finish_reason":"content_filter"}`,
	},
	{
		"log probabilities",
		translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true, Top: 2}, Input: translate.Input{Length: 10}},
		[][]event.Event{
			{tell.Text("éa"), tell.Logprobs(`[{"token":"é","bytes":[195,169],"logprob":-0.10,"top_logprobs":[{"token":"é","logprob":-0.10},{"token":"x","logprob":-2},{"token":"y","logprob":-3}]},{"token":"a","logprob":null,"top_logprobs":[]}]`)},
			{tell.Text("b"), tell.Logprobs(`[{"token":"b","logprob":-1e-3,"top_logprobs":[{"token":"b","logprob":-1e-3},{"token":"b","logprob":-9}]}]`)},
			{tell.Finish(event.FinishStop)},
		},
		chunk(`{"text":"éa","index":0,"logprobs":{"tokens":["é","a"],"token_logprobs":[-0.10,null],"top_logprobs":[{"é":-0.10,"x":-2},{}],"text_offset":[10,11]},"finish_reason":null}`) +
			chunk(`{"text":"b","index":0,"logprobs":{"tokens":["b"],"token_logprobs":[-1e-3],"top_logprobs":[{"b":-1e-3}],"text_offset":[12]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"éab","index":0,"logprobs":{"tokens":["é","a","b"],"token_logprobs":[-0.10,null,-1e-3],"top_logprobs":[{"é":-0.10,"x":-2},{},{"b":-1e-3}],"text_offset":[10,11,12]},"finish_reason":"stop"}`,
	},
	{
		"log probabilities without alternatives",
		translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true}},
		[][]event.Event{{tell.Text("a"), tell.Logprobs(`[{"token":"a","logprob":-1,"top_logprobs":[{"token":"a","logprob":-1}]},7,{"x":1}]`)}},
		chunk(`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":"stop"}`,
	},
	{
		"log probabilities whose text was handed over", translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true}},
		each(tell.Text("a"), tell.Logprobs(`[{"token":"a","logprob":-1}]`)),
		chunk(`{"text":"a","index":0,"logprobs":null,"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":null}`) +
			chunk(`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}`) + done,
		`{"text":"a","index":0,"logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":null,"text_offset":[0]},"finish_reason":"stop"}`,
	},
	{
		"log probabilities of two choices in one step",
		translate.AnswerContext{Logprobs: translate.Logprobs{Asked: true}},
		[][]event.Event{{tell.Text("a"), tell.In(1, tell.Text("b")), tell.Logprobs(`[{"token":"a","logprob":-1}]`), tell.In(1, tell.Logprobs(`[{"token":"b","logprob":-2}]`))}},
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
			added, err := client.Completions.Emitted([]byte(stream))
			require.NoError(t, err)
			answer, err := client.Decode([]byte(body))
			require.NoError(t, err)
			assert.Equal(t, answer, added)
		})
	}
}

func TestUsageIsSentOnceAndOnlyIfAskedFor(t *testing.T) {
	steps := each(tell.Text("a"), counts, tell.Finish(event.FinishStop), counts)
	stream, _ := emit(translate.AnswerContext{Stream: true, IncludeUsage: true}, steps...)
	assert.Equal(t, "data: "+frame+`{"text":"a","index":0,"logprobs":null,"finish_reason":null}],"usage":null}`+"\n\n"+
		"data: "+frame+`{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}],"usage":null}`+"\n\n"+
		"data: "+frame+"],"+allUsage+"}\n\n"+done, stream)

	stream, _ = emit(translate.AnswerContext{Stream: true}, steps...)
	assert.NotContains(t, stream, "usage")

	body, _ := emit(translate.AnswerContext{}, steps...)
	assert.True(t, strings.HasSuffix(body, `"finish_reason":"stop"}],`+allUsage+"}"), body)
}

func TestFinishReasonsFollowTheirTable(t *testing.T) {
	for reason, want := range map[event.FinishReason]string{
		event.FinishUnknown: "stop", event.FinishStop: "stop", event.FinishLength: "length",
		event.FinishFiltered: "content_filter", event.FinishPaused: "length", event.FinishTools: "stop",
	} {
		body, fault := emit(translate.AnswerContext{}, each(tell.Finish(reason))...)
		require.Nil(t, fault)
		assert.Contains(t, body, `"finish_reason":"`+want+`"`)
	}
	for _, stream := range []bool{true, false} {
		out, f := emit(translate.AnswerContext{Stream: stream}, each(event.Event{Kind: event.ToolStart}, tell.Finish(event.FinishTools))...)
		require.NotNil(t, f)
		assert.Equal(t, fault.BadGateway, f.Kind)
		assert.NotContains(t, out, "DONE")
	}
}

func TestMissingMembersOfTheProviderAreFilledIn(t *testing.T) {
	e := answer.NewEmitter(&translate.AnswerContext{}, translate.IDs{Message: "cmpl-1", Created: 5, Model: "asked"})
	e.Handle(&event.Event{Kind: event.Start})
	e.Handle(&tell.End)
	assert.Contains(t, string(e.Output()), `{"id":"cmpl-1","object":"text_completion","created":5,"model":"asked"`)
}

func TestNothingOfAnAnswerIsShownBeforeItsEnd(t *testing.T) {
	e := answer.NewEmitter(&translate.AnswerContext{Input: translate.Input{Echo: []byte("p")}}, translate.IDs{})
	for _, event := range []event.Event{tell.Start, tell.Text("a"), tell.Finish(event.FinishStop)} {
		e.Handle(&event)
		assert.Empty(t, e.Output())
	}
	e.Handle(&tell.End)
	assert.NotEmpty(t, e.Output())
	assert.Empty(t, e.Output())
}

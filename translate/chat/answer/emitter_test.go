package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/chat/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

// annotated are the annotations of two sources.
const annotated = `{"type":"url_citation","url_citation":{"url":"u\"","title":"t","start_index":0,"end_index":1}},` +
	`{"type":"url_citation","url_citation":{"url":"v","title":"","start_index":2,"end_index":3}}`

// shifted are those of the same sources in a text that has two characters more in
// front of them.
const shifted = `{"type":"url_citation","url_citation":{"url":"u\"","title":"t","start_index":2,"end_index":3}},` +
	`{"type":"url_citation","url_citation":{"url":"v","title":"","start_index":4,"end_index":5}}`

var ()

// emit writes events, between a start and the end, for a client. Each inner list is one
// step, as a parser may send several events for one event of the provider.
func emit(m translate.AnswerContext, steps ...[]event.Event) (string, *fault.Fault) {
	steps = append(append([][]event.Event{{tell.Start}}, steps...), []event.Event{tell.End})
	return translatetest.Emit(answer.NewEmitter(&m, translatetest.IDs("chatcmpl-1", "call_")), steps...)
}

var each = translatetest.Each

const (
	chunks  = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"m","choices":[`
	frame   = `{"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"m","choices":[`
	noUsage = `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0,"text_tokens":0,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"text_tokens":0,"audio_tokens":0,"reasoning_tokens":0}}`
	role    = `"role":"assistant","content":""`
)

// delta is a chunk of choice 0.
func delta(members string) string { return chunkOf(0, members, "null") }

func chunkOf(choice int, members, reason string) string {
	return fmt.Sprintf(`%s{"index":%d,"delta":{%s},"logprobs":null,"finish_reason":%s}]}`+"\n\n", chunks, choice, members, reason)
}

// whole is the stream of choice 0.
func streamed(reason string, deltas ...string) string {
	var b strings.Builder
	b.WriteString(delta(role))
	for _, d := range deltas {
		b.WriteString(delta(d))
	}
	return b.String() + chunkOf(0, "", `"`+reason+`"`) + "data: [DONE]\n\n"
}

// alone is the only choice of a JSON answer.
func alone(reason, message string) string {
	return `{"index":0,"message":{"role":"assistant",` + message + `},"logprobs":null,"finish_reason":"` + reason + `"}`
}

var emitted = []struct {
	name   string
	memory translate.AnswerContext
	steps  [][]event.Event
	stream string
	answer string // the choices
}{
	{
		"nothing", translate.AnswerContext{}, nil,
		streamed("stop"), alone("stop", `"content":"","refusal":null`),
	},
	{
		"text", translate.AnswerContext{}, each(tell.Text("<a>"), tell.Text("é\n\""), tell.Finish(event.FinishLength)),
		streamed("length", `"content":"<a>"`, `"content":"é\n\""`),
		alone("length", `"content":"<a>é\n\"","refusal":null`),
	},
	{
		"sources", translate.AnswerContext{}, each(tell.Text("ab"), tell.Source("u\"", "t", 0, 1), tell.Text("c"), tell.Source("v", "", 2, 3), tell.Finish(event.FinishStop)),
		streamed("stop", `"content":"ab"`, `"content":"c"`, `"annotations":[`+annotated+`]`),
		alone("stop", `"content":"abc","refusal":null,"annotations":[`+annotated+`]`),
	},
	{
		"two texts", translate.AnswerContext{}, each(tell.TextEnd, tell.Text("a"), tell.TextEnd, tell.Text("b")),
		streamed("stop", `"content":"a"`, `"content":"\n\n"`, `"content":"b"`),
		alone("stop", `"content":"a\n\nb","refusal":null`),
	},
	{
		"a refusal", translate.AnswerContext{}, each(tell.Text("a"), tell.TextEnd, tell.Refusal("no"), tell.Refusal("!"), tell.Finish(event.FinishFiltered)),
		streamed("content_filter", `"content":"a"`, `"refusal":"no"`, `"refusal":"!"`),
		alone("content_filter", `"content":"a","refusal":"no!"`),
	},
	{
		"a refusal that the provider explains", translate.AnswerContext{},
		each(event.Event{Kind: event.Finish, Finish: event.FinishFiltered, Text: []byte("it \"may\" harm")}),
		streamed("content_filter", `"refusal":"it \"may\" harm"`),
		alone("content_filter", `"content":"","refusal":"it \"may\" harm"`),
	},
	{
		"an explanation behind words of the model", translate.AnswerContext{},
		each(tell.Text("a"), event.Event{Kind: event.Finish, Finish: event.FinishFiltered, Text: []byte("because")}),
		streamed("content_filter", `"content":"a"`), alone("content_filter", `"content":"a","refusal":null`),
	},
	{
		"sources behind the second text", translate.AnswerContext{}, each(tell.Text("a"), tell.TextEnd, tell.Text("bc"), tell.Source("u\"", "t", 0, 1), tell.Source("v", "", 2, 3)),
		streamed("stop", `"content":"a"`, `"content":"\n\n"`, `"content":"bc"`, `"annotations":[`+shifted+`]`),
		alone("stop", `"content":"a\n\nbc","refusal":null,"annotations":[`+shifted+`]`),
	},
	{
		"parts of a text and of reasoning", translate.AnswerContext{},
		each(tell.InPart(0, tell.Reasoning("a")), tell.InPart(1, tell.Reasoning("b")), tell.InPart(1, tell.Reasoning("c")), tell.Signature("S"), tell.ReasoningEnd, tell.InPart(0, tell.Text("d")), tell.InPart(1, tell.Text("e"))),
		streamed("stop", `"reasoning_content":"a"`, `"reasoning_content":"\n\n"`, `"reasoning_content":"b"`, `"reasoning_content":"c"`,
			`"thinking_blocks":[{"type":"thinking","thinking":"a\n\nbc","signature":"S"}]`, `"content":"d"`, `"content":"e"`),
		alone("stop", `"content":"de","refusal":null,"reasoning_content":"a\n\nbc","thinking_blocks":[{"type":"thinking","thinking":"a\n\nbc","signature":"S"}]`),
	},
	{
		"a refusal in words", translate.AnswerContext{}, each(tell.Refusal("no"), tell.Finish(event.FinishRefused)),
		streamed("stop", `"refusal":"no"`), alone("stop", `"content":"","refusal":"no"`),
	},
	{
		"signed reasoning", translate.AnswerContext{}, each(tell.Reasoning("a\""), tell.Reasoning("b"), tell.Signature("S="), tell.ReasoningEnd, tell.Text("c")),
		streamed("stop", `"reasoning_content":"a\""`, `"reasoning_content":"b"`, `"thinking_blocks":[{"type":"thinking","thinking":"a\"b","signature":"S="}]`, `"content":"c"`),
		alone("stop", `"content":"c","refusal":null,"reasoning_content":"a\"b","thinking_blocks":[{"type":"thinking","thinking":"a\"b","signature":"S="}]`),
	},
	{
		"reasoning that only its signature stands for", translate.AnswerContext{}, each(tell.Signature("S"), tell.ReasoningEnd),
		streamed("stop", `"thinking_blocks":[{"type":"thinking","thinking":"","signature":"S"}]`),
		alone("stop", `"content":"","refusal":null,"thinking_blocks":[{"type":"thinking","thinking":"","signature":"S"}]`),
	},
	{
		"two blocks, the first of them unsigned", translate.AnswerContext{},
		each(tell.ReasoningEnd, tell.Reasoning("a"), tell.ReasoningEnd, tell.Reasoning("b"), tell.Signature("S"), tell.Redacted("D")),
		streamed("stop", `"reasoning_content":"a"`, `"reasoning_content":"\n"`, `"reasoning_content":"b"`,
			`"thinking_blocks":[{"type":"thinking","thinking":"b","signature":"S"}]`, `"thinking_blocks":[{"type":"redacted_thinking","data":"D"}]`),
		alone("stop", `"content":"","refusal":null,"reasoning_content":"a\nb","thinking_blocks":[{"type":"thinking","thinking":"b","signature":"S"},{"type":"redacted_thinking","data":"D"}]`),
	},
	{
		"calls that interleave", translate.AnswerContext{},
		each(tell.Call(0, "a:0", "f"), tell.Call(1, "b", "g"), tell.Args(0, `{"x":`), tell.Args(1, "{}"), tell.Args(0, "1}"), tell.Finish(event.FinishTools)),
		streamed("tool_calls", `"tool_calls":[{"index":0,"id":"a:0","type":"function","function":{"name":"f","arguments":""}}]`,
			`"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]`,
			`"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]`, `"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]`,
			`"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]`),
		alone("tool_calls", `"content":null,"refusal":null,"tool_calls":[{"id":"a:0","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]`),
	},
	{
		"calls whose ids are missing or the same, one told twice", translate.AnswerContext{},
		each(tell.Text("w"), tell.Call(0, "", "f"), tell.Call(1, "x", "f"), tell.Call(2, "x", "f"), tell.Call(2, "y", "g")),
		streamed("tool_calls", `"content":"w"`, `"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]`,
			`"tool_calls":[{"index":1,"id":"x","type":"function","function":{"name":"f","arguments":""}}]`,
			`"tool_calls":[{"index":2,"id":"x_2","type":"function","function":{"name":"f","arguments":""}}]`),
		alone("tool_calls", `"content":"w","refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":""}},{"id":"x","type":"function","function":{"name":"f","arguments":""}},{"id":"x_2","type":"function","function":{"name":"f","arguments":""}}]`),
	},
	{
		"a custom call", translate.AnswerContext{},
		each(event.Event{Kind: event.ToolStart, ID: []byte("a"), Name: []byte("f"), Custom: true}, tell.Args(0, "x y")),
		streamed("tool_calls", `"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":""}}]`, `"tool_calls":[{"index":0,"custom":{"input":"x y"}}]`),
		alone("tool_calls", `"content":null,"refusal":null,"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x y"}}]`),
	},
	{
		"two choices and a gap", translate.AnswerContext{},
		each(tell.In(2, tell.Text("c")), tell.Text("a"), tell.In(2, tell.Finish(event.FinishLength)), tell.Finish(event.FinishStop)),
		delta(role) + chunkOf(2, role, "null") + chunkOf(2, `"content":"c"`, "null") + delta(`"content":"a"`) +
			chunkOf(0, "", `"stop"`) + chunkOf(2, "", `"length"`) + "data: [DONE]\n\n",
		alone("stop", `"content":"a","refusal":null`) + `,{"index":2,"message":{"role":"assistant","content":"c","refusal":null},"logprobs":null,"finish_reason":"length"}`,
	},
	{
		"logprobs that nobody asked for", translate.AnswerContext{}, each(tell.Text("a"), event.Event{Kind: event.Logprobs, Logprobs: []byte(`[{"token":"a"}]`)}),
		streamed("stop", `"content":"a"`), alone("stop", `"content":"a","refusal":null`),
	},
}

func TestAnswersAreWrittenForTheClient(t *testing.T) {
	for _, tt := range emitted {
		t.Run(tt.name, func(t *testing.T) {
			streaming := tt.memory
			streaming.Stream = true
			got, fault := emit(streaming, tt.steps...)
			require.Nil(t, fault)
			assert.Equal(t, tt.stream, got)
			got, fault = emit(tt.memory, tt.steps...)
			require.Nil(t, fault)
			assert.Equal(t, frame+tt.answer+"],"+noUsage+"}", got)
		})
	}
}

func TestUsageIsSentOnceIfAskedFor(t *testing.T) {
	counts := event.Event{Kind: event.Usage, Usage: &token.Usage{Counts: token.Counts{Fresh: 100, CacheRead: 900, CacheWrite: 7, Answer: 8, Reasoning: 4}, Known: true}}
	const usage = `"usage":{"prompt_tokens":1007,"completion_tokens":12,"total_tokens":1019,"prompt_tokens_details":{"cached_tokens":900,"text_tokens":1007,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":7},"completion_tokens_details":{"text_tokens":8,"audio_tokens":0,"reasoning_tokens":4}}`
	got, _ := emit(translate.AnswerContext{Stream: true, IncludeUsage: true}, each(tell.Text("a"), counts, counts)...)
	assert.Equal(t, 1, strings.Count(got, usage))
	assert.Contains(t, got, chunks+`],`+usage+"}\n\ndata: [DONE]\n\n")
	assert.Equal(t, 3, strings.Count(got, `"finish_reason":null}],"usage":null}`)+strings.Count(got, `"finish_reason":"stop"}],"usage":null}`))
	got, _ = emit(translate.AnswerContext{Stream: true}, each(tell.Text("a"), counts)...)
	assert.NotContains(t, got, "usage")
	got, _ = emit(translate.AnswerContext{}, each(tell.Text("a"), counts)...)
	assert.Contains(t, got, usage)
}

// Log probabilities follow their text, whose chunk may already have been returned.
func TestLogprobsAreInTheChunkOfTheirText(t *testing.T) {
	weights := func(list string) event.Event {
		return event.Event{Kind: event.Logprobs, Logprobs: []byte(list)}
	}
	m := translate.AnswerContext{Stream: true, Logprobs: translate.Logprobs{Asked: true}}
	steps := [][]event.Event{{tell.Text("a"), weights(`[{"token":"a"}]`)}, {tell.Text("b"), weights(`[]`)}, {tell.Text("c")}, {weights(`[{"token":"c"}]`)}}
	got, fault := emit(m, steps...)
	require.Nil(t, fault)
	assert.Equal(t, delta(role)+
		strings.Replace(delta(`"content":"a"`), `"logprobs":null`, `"logprobs":{"content":[{"token":"a"}],"refusal":null}`, 1)+
		delta(`"content":"b"`)+delta(`"content":"c"`)+
		strings.Replace(delta(""), `"logprobs":null`, `"logprobs":{"content":[{"token":"c"}],"refusal":null}`, 1)+
		chunkOf(0, "", `"stop"`)+"data: [DONE]\n\n", got)
	m.Stream = false
	got, _ = emit(m, steps...)
	assert.Contains(t, got, `"logprobs":{"content":[{"token":"a"},{"token":"c"}],"refusal":null}`)
}

func TestTheTierOfTheProviderIsWritten(t *testing.T) {
	for tier, want := range map[event.Tier]string{
		event.TierStandard: `"model":"m","service_tier":"default","choices"`,
		event.TierPriority: `"model":"m","service_tier":"priority","choices"`,
		event.TierUnknown:  `"model":"m","choices"`,
	} {
		for _, stream := range []bool{true, false} {
			e := answer.NewEmitter(&translate.AnswerContext{Stream: stream}, translate.IDs{})
			e.Handle(&event.Event{Kind: event.Start, Model: []byte("m"), Tier: tier})
			e.Handle(&event.Event{Kind: event.End})
			out := string(e.Output())
			assert.Equal(t, strings.Count(out, `"model"`), strings.Count(out, want))
		}
	}
}

func TestMissingMembersOfTheProviderAreFilledIn(t *testing.T) {
	e := answer.NewEmitter(&translate.AnswerContext{}, translate.IDs{Message: "chatcmpl-1", Created: 5, Model: "asked"})
	e.Handle(&event.Event{Kind: event.End})
	assert.Contains(t, string(e.Output()), `{"id":"chatcmpl-1","object":"chat.completion","created":5,"model":"asked","choices":[{"index":0,`)
}

func TestArgumentsOfNoCallFail(t *testing.T) {
	for _, stream := range []bool{true, false} {
		out, fault := emit(translate.AnswerContext{Stream: stream}, each(tell.Args(0, "{}"), tell.Text("late"))...)
		require.NotNil(t, fault)
		assert.Equal(t, "upstream_invalid_response", fault.Code)
		assert.NotContains(t, out, "late")
		assert.NotContains(t, out, "[DONE]")
	}
}

// TestStreamsAddUpToTheAnswer checks every row above with an accumulator that is
// as strict as the official ones.
func TestStreamsAddUpToTheAnswer(t *testing.T) {
	for _, tt := range emitted {
		if strings.Contains(tt.stream, `"custom"`) {
			continue // which no request of the pairs can ask for
		}
		m := tt.memory
		m.Stream, m.IncludeUsage = true, true
		stream, _ := emit(m, tt.steps...)
		added, err := client.Chat.Emitted([]byte(stream))
		require.NoError(t, err, tt.name)
		answer, _ := emit(tt.memory, tt.steps...)
		want, err := client.Decode([]byte(answer))
		require.NoError(t, err)
		assert.Equal(t, want, added, tt.name)
	}
}

// TestSignaturesOfOtherFormatsAreSealed ensures that reasoning which only a
// provider of another format can read comes back to it through a chat client, and
// is left out where it cannot.
func TestSignaturesOfOtherFormatsAreSealed(t *testing.T) {
	signed := event.Event{Kind: event.Signature, Text: []byte("rs_1.1.secret"), Origin: translate.Responses}
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	sealer := ring.For("p", "t")

	got, fault := emit(translate.AnswerContext{Seals: sealer}, each(tell.Reasoning("a"), signed, tell.ReasoningEnd)...)
	require.Nil(t, fault)
	sealed := string(sealer.Append(nil, seal.Item, []byte("rs_1.1.secret")))
	assert.Contains(t, got, `"thinking_blocks":[{"type":"thinking","thinking":"a","signature":"`+sealed+`"}]`)

	got, fault = emit(translate.AnswerContext{}, each(tell.Reasoning("a"), signed, tell.ReasoningEnd)...)
	require.Nil(t, fault)
	assert.Contains(t, got, `"reasoning_content":"a"`)
	assert.NotContains(t, got, "thinking_blocks")
}

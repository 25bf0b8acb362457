package answer_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/event"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/gemini/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/seal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/tell"
)

func signs(text string, origin translate.Format) event.Event {
	return event.Event{Kind: event.Signature, Text: []byte(text), Origin: origin}
}

func counts(c token.Counts) event.Event {
	return event.Event{Kind: event.Usage, Usage: &token.Usage{Counts: c, Known: true}}
}

var (
	stopped = tell.Finish(event.FinishStop)
	limited = tell.Finish(event.FinishLength)
)

// emitted writes the events of an answer for a client.
func emitted(t *testing.T, m translate.AnswerContext, events ...event.Event) string {
	t.Helper()
	out, fault := translatetest.Emit(answer.NewEmitter(&m, translatetest.IDs("r1", "call_")), translatetest.Each(events...)...)
	require.Nil(t, fault)
	return out
}

// partsOf returns the parts of a JSON answer.
func partsOf(t *testing.T, m translate.AnswerContext, events ...event.Event) []any {
	t.Helper()
	o, err := client.Decode([]byte(emitted(t, m, events...)))
	require.NoError(t, err)
	return candidateOf(o)["content"].(client.Object)["parts"].([]any)
}

func candidateOf(o client.Object) client.Object {
	return o["candidates"].([]any)[0].(client.Object)
}

func sealer(t *testing.T) *seal.Sealer {
	t.Helper()
	ring, err := seal.NewRing([]byte("0123456789abcdef"))
	require.NoError(t, err)
	return ring.For("p", "t")
}

// unsealed returns the reasoning in the signature of a part. The signature has to be padded
// base64 of the standard alphabet, as official clients decode it.
func unsealed(t *testing.T, part any, kind string) string {
	t.Helper()
	signature, _ := part.(client.Object)["thoughtSignature"].(string)
	sealed, err := base64.StdEncoding.Strict().DecodeString(signature)
	require.NoError(t, err)
	payload, ok := sealer(t).Open(kind, sealed)
	require.True(t, ok, "%v", part)
	return string(payload)
}

func TestAnswersInBothForms(t *testing.T) {
	events := []event.Event{
		tell.Start, tell.Reasoning("hm"), tell.ReasoningEnd, tell.Text("He\n"), tell.Text("y"), tell.Call(0, "a", "f"), tell.Args(0, "{\"x\":\n "), tell.Args(0, "1}"), tell.Called(0),
		stopped, counts(token.Counts{Fresh: 3, Answer: 2}), tell.End,
	}
	const (
		head   = `{"candidates":[{"content":{"parts":[`
		names  = `,"modelVersion":"m","responseId":"r1"}`
		middle = `],"role":"model"},"index":0}]` + names + "\n\ndata: " + head
		end    = `],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5}` + names
		call   = `{"functionCall":{"id":"a","name":"f","args":{"x":1}}}`
	)
	assert.Equal(t, head+`{"text":"hm","thought":true},{"text":"He\ny"},`+call+end, emitted(t, translate.AnswerContext{}, events...))
	assert.Equal(t, "data: "+head+`{"text":"hm","thought":true}`+middle+`{"text":"He\n"}`+middle+`{"text":"y"}`+middle+call+middle+`{"text":""}`+end+"\n\n",
		emitted(t, translate.AnswerContext{Stream: true}, events...))
}

func TestY025ThoughtsAreOnlyForClientsThatAskForThem(t *testing.T) {
	m := translate.AnswerContext{Reasoning: translate.ReasoningOf{Hidden: true}, Seals: sealer(t)}
	parts := partsOf(t, m, tell.Start, tell.Reasoning("hm"), signs("sig", ""), tell.ReasoningEnd, tell.Text("a"), tell.Call(0, "a", "f"), tell.Called(0), stopped, tell.End)
	require.Len(t, parts, 2)
	assert.Equal(t, client.Object{"text": "a"}, parts[0])
	assert.Equal(t, `[{"type":"thinking","thinking":"hm","signature":"sig"}]`, unsealed(t, parts[1], seal.Block))
}

// TestY026Y028ReasoningIsSealedIntoTheNextCall and the next test ensure that the reasoning before
// a call comes back with the call: gemini-cli sends back no thoughts.
func TestY026Y028ReasoningIsSealedIntoTheNextCall(t *testing.T) {
	m := translate.AnswerContext{Seals: sealer(t)}
	parts := partsOf(t, m, tell.Start, tell.Reasoning("a\""), signs("s1", ""), tell.ReasoningEnd, event.Event{Kind: event.Redacted, Text: []byte("secret")},
		tell.Call(0, "a", "f"), tell.Called(0), tell.Call(1, "b", "f"), tell.Called(1), tell.Reasoning("b"), signs("s2", ""), tell.ReasoningEnd, tell.Call(2, "c", "f"), tell.Called(2), stopped, tell.End)
	assert.Equal(t, `[{"type":"thinking","thinking":"a\"","signature":"s1"},{"type":"redacted_thinking","data":"secret"}]`, unsealed(t, parts[1], seal.Block))
	assert.NotContains(t, parts[2], "thoughtSignature", "a call of the same step")
	assert.Equal(t, `[{"type":"thinking","thinking":"b","signature":"s2"}]`, unsealed(t, parts[4], seal.Block))

	parts = partsOf(t, m, tell.Start, tell.Reasoning("a"), signs("rs_1.1.secret", translate.Responses), tell.ReasoningEnd, tell.Call(0, "a", "f"), tell.Called(0), stopped, tell.End)
	assert.Equal(t, `[{"type":"thinking","thinking":"a","signature":"rs_1.1.secret"}]`, unsealed(t, parts[1], seal.Item))
}

// TestUnsignedReasoningIsSealedIntoCalls ensures that providers get the reasoning of a tool loop
// which they demand, although nobody has signed it.
func TestUnsignedReasoningIsSealedIntoCalls(t *testing.T) {
	m := translate.AnswerContext{Seals: sealer(t)}
	parts := partsOf(t, m, tell.Start, tell.Reasoning("a"), tell.Reasoning("b"), tell.Call(0, "a", "f"), tell.Called(0), tell.Reasoning("c"), stopped, tell.End)
	assert.Equal(t, `[{"type":"thinking","thinking":"ab"}]`, unsealed(t, parts[1], seal.Block))
	assert.Len(t, parts, 3, "no seal of the last thought")
}

func TestY030ReasoningWithoutACallIsSealedIntoTheLastPart(t *testing.T) {
	m := translate.AnswerContext{Seals: sealer(t)}
	parts := partsOf(t, m, tell.Start, tell.Reasoning("a"), signs("s1", ""), tell.ReasoningEnd, tell.Text("b"), stopped, tell.End)
	require.Len(t, parts, 3)
	assert.Equal(t, "", parts[2].(client.Object)["text"])
	assert.Equal(t, `[{"type":"thinking","thinking":"a","signature":"s1"}]`, unsealed(t, parts[2], seal.Block))
}

func TestSignaturesOfTheFormatStayUnchanged(t *testing.T) {
	parts := partsOf(t, translate.AnswerContext{}, tell.Start, tell.Text("a"), signs("part:x-_y", translate.Gemini),
		signs("call:AB+/==", translate.Gemini), tell.ReasoningEnd, tell.Call(0, "a", "f"), tell.Called(0), stopped, tell.End)
	assert.Equal(t, client.Object{"text": "", "thoughtSignature": "x-_y"}, parts[1])
	assert.Equal(t, "AB+/==", parts[2].(client.Object)["thoughtSignature"])
}

func TestReasoningThatCannotBeSealedIsReported(t *testing.T) {
	m := answer.NewEmitter(&translate.AnswerContext{}, translatetest.IDs("r1", "call_"))
	translatetest.Emit(m, []event.Event{tell.Start, signs("s", ""), {Kind: event.Redacted, Text: []byte("x")}, stopped, tell.End})
	assert.Equal(t, "reasoning.signature,reasoning", m.Losses().String())
}

func TestY031CallsHaveIDsOfTheirOwn(t *testing.T) {
	parts := partsOf(t, translate.AnswerContext{}, tell.Start, tell.Call(0, "a", "f"), tell.Called(0), tell.Call(1, "a", "f"), tell.Called(1), tell.Call(2, "", "f"), tell.Called(2), stopped, tell.End)
	ids := map[any]bool{}
	for _, part := range parts {
		ids[part.(client.Object)["functionCall"].(client.Object)["id"]] = true
	}
	assert.Equal(t, map[any]bool{"a": true, "a_2": true, "call_1": true}, ids)
}

// TestY038CallsThatTheLimitHasCutAreNotWritten: clients run every call that they read, and
// would write half a file.
func TestY038CallsThatTheLimitHasCutAreNotWritten(t *testing.T) {
	for name, cut := range map[string][]event.Event{
		"in arguments":       {tell.Call(1, "b", "f"), tell.Args(1, `{"x":"`), tell.Called(1)},
		"before arguments":   {tell.Call(1, "b", "f")},
		"an end is no proof": {tell.Call(1, "b", "f"), tell.Args(1, "{}"), tell.Called(1)},
	} {
		for _, stream := range []bool{false, true} {
			events := append([]event.Event{tell.Start, tell.Call(0, "a", "f"), tell.Args(0, `{"x":1}`), tell.Called(0)}, cut...)
			m := answer.NewEmitter(&translate.AnswerContext{Stream: stream}, translatetest.IDs("r1", "call_"))
			out, fault := translatetest.Emit(m, translatetest.Each(append(events, limited, tell.End)...)...)
			require.Nil(t, fault)
			assert.Contains(t, out, `"id":"a"`, name)
			assert.NotContains(t, out, `"id":"b"`, name)
			assert.Contains(t, out, `"finishReason":"MAX_TOKENS"`)
			assert.Equal(t, "tool_calls", m.Losses().String())
		}
	}
}

func TestY039RefusalsAreEndsForSafety(t *testing.T) {
	refused := tell.Finish(event.FinishFiltered)
	refused.Text = []byte("against the policy")
	for _, events := range [][]event.Event{{tell.Start, refused, tell.End}, {tell.Start, tell.Text("I"), refused, tell.End}} {
		o, err := client.Decode([]byte(emitted(t, translate.AnswerContext{}, events...)))
		require.NoError(t, err)
		c := candidateOf(o)
		assert.Equal(t, "SAFETY", c["finishReason"])
		assert.Equal(t, "against the policy", c["finishMessage"])
		assert.Len(t, c["content"].(client.Object)["parts"], 1)
	}
}

func TestY040ThoughtsAreCountedBesideTheCandidates(t *testing.T) {
	for want, c := range map[string]token.Counts{
		`"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":10,"thoughtsTokenCount":5,"totalTokenCount":115}`: {Fresh: 60, CacheRead: 40, Answer: 10, Reasoning: 5},
		`"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":15,"totalTokenCount":85}`:                                                       {Fresh: 60, CacheWrite: 10, Answer: 15},
	} {
		assert.Contains(t, emitted(t, translate.AnswerContext{}, tell.Start, stopped, counts(c), tell.End), want)
	}
	assert.NotContains(t, emitted(t, translate.AnswerContext{}, tell.Start, stopped, tell.End), "usageMetadata", "which is unknown")
}

func TestSourcesAndProbabilities(t *testing.T) {
	cites := event.Event{Kind: event.Source, Source: &event.Citation{URL: []byte("https://a/"), Title: []byte("A"), End: 1}}
	probable := event.Event{Kind: event.Logprobs, Logprobs: []byte(`[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"b","logprob":-1}]}]`)}
	const probabilities = `"logprobsResult":{"chosenCandidates":[{"token":"a","logProbability":-0.5}],"topCandidates":[{"candidates":[{"token":"b","logProbability":-1}]}]}`
	const grounding = `"groundingMetadata":{"groundingChunks":[{"web":{"uri":"https://a/","title":"A"}}]}`
	events := []event.Event{tell.Start, tell.Text("a"), cites, probable, stopped, tell.End}
	assert.Contains(t, emitted(t, translate.AnswerContext{}, events...), `"finishReason":"STOP",`+grounding+","+probabilities+`,"index":0}]`)
	stream := emitted(t, translate.AnswerContext{Stream: true}, events...)
	assert.Contains(t, stream, `{"text":""}],"role":"model"},`+probabilities+`,"index":0}]`)
	assert.Contains(t, stream, `"finishReason":"STOP",`+grounding+`,"index":0}]`)
}

func TestPartsOfATextAreSeparate(t *testing.T) {
	second := tell.Text("b")
	second.Part = 1
	parts := partsOf(t, translate.AnswerContext{}, tell.Start, tell.Reasoning("x"), tell.ReasoningEnd, tell.Reasoning("y"), tell.Text("a"), second, stopped, tell.End)
	assert.Equal(t, []any{client.Object{"text": "x\n\ny", "thought": true}, client.Object{"text": "a\n\nb"}}, parts)
}

// TestY046EveryChoiceIsACandidate ensures that candidates of a stream can be told apart, and that
// all have the usage of the whole answer.
func TestY046EveryChoiceIsACandidate(t *testing.T) {
	second := func(e event.Event) event.Event {
		e.Choice = 1
		return e
	}
	events := []event.Event{
		tell.Start, tell.Text("a"), second(tell.Text("b")), second(tell.Call(0, "y", "f")), second(tell.Called(0)), tell.Call(0, "x", "f"), tell.Called(0), second(limited), stopped,
		counts(token.Counts{Fresh: 3, Answer: 2}), tell.End,
	}
	const (
		first = `{"content":{"parts":[{"text":"a"},{"functionCall":{"id":"x","name":"f","args":{}}}],"role":"model"},"finishReason":"STOP","index":0}`
		other = `{"content":{"parts":[{"text":"b"}],"role":"model"},"finishReason":"MAX_TOKENS","index":1}`
		usage = `"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2,"totalTokenCount":5},"modelVersion":"m","responseId":"r1"}`
	)
	assert.Equal(t, `{"candidates":[`+first+","+other+"],"+usage, emitted(t, translate.AnswerContext{}, events...))
	stream := emitted(t, translate.AnswerContext{Stream: true}, events...)
	assert.Contains(t, stream, `data: {"candidates":[{"content":{"parts":[{"text":"b"}],"role":"model"},"index":1}],"modelVersion":"m","responseId":"r1"}`+"\n\n")
	assert.Contains(t, stream, `"finishReason":"STOP","index":0}],`+usage)
	assert.Contains(t, stream, `"finishReason":"MAX_TOKENS","index":1}],`+usage)
}

func TestNothingIsAllocatedForADelta(t *testing.T) {
	m := answer.NewEmitter(&translate.AnswerContext{Stream: true}, translatetest.IDs("r1", "call_"))
	start, delta := tell.Start, tell.Text("abc")
	m.Handle(&start)
	for range 100 {
		m.Handle(&delta)
	}
	m.Output()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		m.Handle(&delta)
		m.Output()
	}))
}

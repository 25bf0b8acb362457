package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// chatStream writes chunks with the deltas given, all of choice 0, and what
// follows them as it is.
func chatStream(deltas []string, rest ...string) []byte {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"model":"m","choices":[{"index":0,"delta":` + d + "}]}\n\n")
	}
	for _, data := range rest {
		b.WriteString("data: " + data + "\n\n")
	}
	return []byte(b.String())
}

// messagesStream writes events, each named by the type of its data.
func messagesStream(events ...string) []byte {
	var b strings.Builder
	for _, data := range events {
		_, name, _ := strings.Cut(data, `"type":"`)
		name, _, _ = strings.Cut(name, `"`)
		b.WriteString("event: " + name + "\ndata: " + data + "\n\n")
	}
	return []byte(b.String())
}

// responsesStream is a stream of events, which are named alike.
func responsesStream(events ...string) []byte { return messagesStream(events...) }

// converseStream writes events, whose names are in front of their data.
func converseStream(events ...string) []byte {
	var b strings.Builder
	for _, e := range events {
		name, data, _ := strings.Cut(e, "{")
		b.WriteString("event: " + name + "\ndata: {" + data + "\n\n")
	}
	return []byte(b.String())
}

// data leaves of a stream only its data.
func data(stream string) (lines []string) {
	for line := range strings.SplitSeq(stream, "\n") {
		if rest, ok := strings.CutPrefix(line, "data: "); ok {
			lines = append(lines, rest)
		}
	}
	return lines
}

// TestInterleavedCallsStayApart is the walk through an answer of text, two calls
// that interleave, and late usage.
func TestInterleavedCallsStayApart(t *testing.T) {
	stream := chatStream([]string{
		`{"role":"assistant"}`,
		`{"content":"Hi"}`,
		`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`,
		`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}`,
		`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`,
	}, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, `[DONE]`)
	o := translated(chatToMessages, translate.AnswerContext{Stream: true}, [][]byte{stream}, true)
	require.True(t, o.Finished())
	assert.Equal(t, []string{
		`{"type":"message_start","message":{"id":"id_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}`,
		`{"type":"message_stop"}`,
	}, data(o.out))
	const c, f = signal.Content, signal.Finish
	assert.Equal(t, []signal.Signal{0, c, c, c, 0, 0, 0, c | f, 0, signal.Terminal}, o.signals)
}

// TestTextOfMessagesBecomesACompletion is the walk through an answer of a
// messages provider to a completions client.
func TestTextOfMessagesBecomesACompletion(t *testing.T) {
	stream := messagesStream(
		`{"type":"message_start","message":{"model":"m"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`,
	)
	o := translated(messagesToCompletions, translate.AnswerContext{Stream: true}, [][]byte{stream}, true)
	assert.Equal(t, []string{
		`{"id":"id_1","object":"text_completion","created":1700000000,"model":"m","choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":null}]}`,
		`{"id":"id_1","object":"text_completion","created":1700000000,"model":"m","choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}]}`,
		`[DONE]`,
	}, data(o.out))
	const c, f = signal.Content, signal.Finish
	assert.Equal(t, []signal.Signal{0, 0, c, 0, c | f, signal.Terminal}, o.signals)
}

func TestTheEndOfTheBodyMayCompleteAnAnswer(t *testing.T) {
	stream := chatStream([]string{`{"content":"a"}`}, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	for _, m := range []translate.AnswerContext{{Stream: true}, {}} {
		o := translated(chatToMessages, m, [][]byte{stream}, true)
		assert.True(t, o.Finished())
		assert.Nil(t, o.Fault())
		assert.Contains(t, o.out, `"stop_reason":"end_turn"`)

		o = translated(chatToMessages, m, [][]byte{stream}, false)
		assert.False(t, o.Finished())
		require.NotNil(t, o.Fault())
		assert.Equal(t, "upstream_stream_truncated", o.Fault().Code)
		assert.NotContains(t, o.out, `"end_turn"`)
	}
}

func TestErrorsAreReturnedAndNotWritten(t *testing.T) {
	stream := chatStream([]string{`{"content":"a"}`}, `{"error":{"message":"boom","code":500}}`, `[DONE]`)
	o := translated(chatToMessages, translate.AnswerContext{Stream: true}, [][]byte{stream}, true)
	assert.Equal(t, []signal.Signal{signal.Content, signal.Failed, 0}, o.signals)
	assert.Equal(t, "boom", o.Fault().Message)
	assert.Equal(t, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`, data(o.out)[2])
	assert.Len(t, data(o.out), 3)

	translator := pairs.NewTranslator(translate.Chat, translate.Messages, &translate.AnswerContext{}, newIDs())
	assert.Equal(t, "no", translator.Answer([]byte(`{"error":{"message":"no"}}`)).Message)
	assert.Empty(t, translator.Output())
}

func TestWhatCannotBeWrittenFails(t *testing.T) {
	custom := chatStream([]string{`{"tool_calls":[{"id":"a","type":"custom","custom":{"name":"f","input":"x"}}]}`}, `[DONE]`)
	o := translated(chatToMessages, translate.AnswerContext{Stream: true}, [][]byte{custom}, true)
	assert.Equal(t, []signal.Signal{signal.Content | signal.Failed, 0}, o.signals)
	assert.False(t, o.Finished())
	assert.Equal(t, "upstream_invalid_response", o.Fault().Code)
	requireUnfinished(t, o)
}

func TestUnknownWaysPanic(t *testing.T) {
	m := &translate.AnswerContext{}
	assert.Panics(t, func() { pairs.NewTranslator("other", translate.Messages, m, newIDs()) })
	assert.Panics(t, func() { pairs.NewTranslator(translate.Chat, "other", m, newIDs()) })
}

// TestEveryTranslatedRequestHasAWayBack ensures that no request is sent whose
// answer could not be read or written.
func TestEveryTranslatedRequestHasAWayBack(t *testing.T) {
	for _, client := range known {
		for _, provider := range known {
			if pairs.CanTranslate(client, provider) {
				assert.NotPanics(t, func() { pairs.NewTranslator(provider, client, &translate.AnswerContext{}, newIDs()) })
			}
		}
	}
}

var enforced = []struct {
	name  string
	stops []string
	texts []string
	want  string
	cut   bool
}{
	{"no stop", []string{"\n"}, []string{"a", "b"}, "ab", false},
	{"in one delta", []string{"\n"}, []string{"a\nb", "c"}, "a", true},
	{"at the beginning", []string{"\n"}, []string{"\na"}, "", true},
	{"split over two deltas", []string{"\n\n"}, []string{"a\n", "\nb"}, "a", true},
	{"split over three", []string{"\n \n"}, []string{"a\n", " ", "\nb"}, "a", true},
	{"not it after all", []string{"\n\n"}, []string{"a\n", "b\n", "c"}, "a\nb\nc", false},
	{"held to the end", []string{"\n\n"}, []string{"a\n"}, "a\n", false},
	{"overlapping beginnings", []string{"\n\n\t"}, []string{"a\n\n", "\n", "\tb"}, "a\n", true},
	{"the first of several", []string{"\n\n", "\t"}, []string{"a\tb\n\n"}, "a", true},
	{"the first in the text", []string{"\t", "\n\n"}, []string{"a\n", "\nb\t"}, "a", true},
}

func TestStopsThatTheProviderDoesNotTakeAreEnforced(t *testing.T) {
	for _, tt := range enforced {
		t.Run(tt.name, func(t *testing.T) {
			events := []string{`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`}
			for _, text := range tt.texts {
				events = append(events, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(text)+`"}}`)
			}
			events = append(events, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`)
			m := translate.AnswerContext{Stream: true, Cuts: translate.Cuts{Stops: tt.stops, Enforced: tt.stops}, IncludeUsage: true}
			stream := translated(messagesToCompletions, m, [][]byte{messagesStream(events...)}, true)
			m.Stream = false
			answer := translated(messagesToCompletions, m, [][]byte{messagesStream(events...)}, true)
			requireAgreement(t, messagesToCompletions, stream, answer)
			added, err := messagesToCompletions.added(stream.out, true)
			require.NoError(t, err)
			choice := added["choices"].([]any)[0].(map[string]any)
			assert.Equal(t, tt.want, choice["text"])
			assert.Equal(t, map[bool]string{true: "stop", false: "length"}[tt.cut], choice["finish_reason"])
			assert.EqualValues(t, 9, stream.Usage().Output())
		})
	}
}

// TestAnAnswerThatWasCutIsCompleteWhateverFollows ensures that the provider, which
// is read on for its usage alone, cannot spoil it.
func TestAnAnswerThatWasCutIsCompleteWhateverFollows(t *testing.T) {
	start := []string{
		`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\nb"}}`,
	}
	for name, tt := range map[string]struct {
		rest  []string
		clean bool
	}{
		"nothing":       {nil, true},
		"a broken body": {nil, false},
		"an error":      {[]string{`{"type":"error","error":{"type":"api_error","message":"no"}}`}, true},
		"a tool":        {[]string{`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := translate.AnswerContext{Stream: true, Cuts: translate.Cuts{Stops: []string{"\n"}, Enforced: []string{"\n"}}}
			o := translated(messagesToCompletions, m, [][]byte{messagesStream(append(start, tt.rest...)...)}, tt.clean)
			assert.Equal(t, signal.Content|signal.Finish, o.signals[1])
			assert.True(t, o.Finished())
			assert.Nil(t, o.Fault())
			lines := data(o.out)
			require.Len(t, lines, 3)
			assert.Contains(t, lines[0], `"text":"a"`)
			assert.Contains(t, lines[1], `"finish_reason":"stop"`)
			assert.Equal(t, "[DONE]", lines[2])
		})
	}
	body := []byte(`{"model":"m","content":[{"type":"text","text":"a\nb"}],"stop_reason":"end_turn"}`)
	o := answered(messagesToCompletions, translate.AnswerContext{Cuts: translate.Cuts{Stops: []string{"\n"}, Enforced: []string{"\n"}}}, body)
	assert.Contains(t, o.out, `"choices":[{"text":"a","index":0,"logprobs":null,"finish_reason":"stop"}]`)
}

// TestAStreamNeedsNoStartToEnd ensures that a stream may begin with any event.
func TestAStreamNeedsNoStartToEnd(t *testing.T) {
	o := pairs.NewTranslator(translate.Messages, translate.Completions, &translate.AnswerContext{Stream: true}, newIDs())
	s := o.Event(sse.Event{Name: []byte("content_block_delta"), Data: []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`)})
	assert.Equal(t, signal.Content, s)
	assert.Contains(t, string(o.Output()), `"model":"asked"`)
}

// A name of 100 KB was repeated by every chunk.
func TestALongModelNameIsNotTakenOver(t *testing.T) {
	body := `{"model":"` + strings.Repeat("m", 257) + `","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`
	o := answered(way{translate.Messages, translate.Chat}, translate.AnswerContext{Stream: true}, []byte(body))
	require.True(t, o.Finished())
	assert.Empty(t, o.Model())
	assert.NotContains(t, o.out, "mmm")
	assert.Contains(t, o.out, `"model":"`+newIDs().Model+`"`)
}

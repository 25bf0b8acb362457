package pairs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// benchChunk is a chunk as OpenAI sends it, padding included.
func benchChunk(delta string, i int) sse.Event {
	pad := "abcdefgh"[:1+i%8]
	return sse.Event{Data: []byte(`{"id":"chatcmpl-A1","object":"chat.completion.chunk","created":1790000000,"model":"gpt-5.4","service_tier":"default","system_fingerprint":"fp_1",` +
		`"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"` + pad + `"}`)}
}

// deltas are what a stream consists of in its steady state.
var deltas = []struct {
	name  string
	way   way
	first string // what must come before
	delta func(i int) sse.Event
}{
	{"chat to messages, text", chatToMessages, `{"content":"a"}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"content":" world %d"}`, i), i)
	}},
	{"chat to messages, reasoning", chatToMessages, `{"reasoning_content":"a"}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"reasoning_content":" world %d"}`, i), i)
	}},
	{"chat to messages, arguments", chatToMessages, `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}]}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":"\"x\":%d,"}}]}`, i), i)
	}},
	{"chat to messages, every chunk of another shape", chatToMessages, `{"content":"a"}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"content":" world","n":%d}`, i), i)
	}},
	{"chat to messages, members that nobody knows", chatToMessages, `{"content":"a"}`, func(i int) sse.Event {
		return sse.Event{Data: fmt.Appendf(nil, `{"timings":{"n":%d},"citations":["u"],"choices":[{"index":0,"delta":{"content":" world","mood":%[1]d},"guardrail_results":{"n":%[1]d}}]}`, i)}
	}},
	{"chat to messages, usage in every chunk", chatToMessages, `{"content":"a"}`, func(i int) sse.Event {
		return sse.Event{Data: fmt.Appendf(nil, `{"model":"m","choices":[{"index":0,"delta":{"content":" world"}}],"usage":{"prompt_tokens":9000,"completion_tokens":%d,"total_tokens":%d}}`, 10+i, 9010+i)}
	}},
	{"chat to completions, text", chatToCompletions, `{"content":"a"}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"content":" world %d"}`, i), i)
	}},
	{"chat to completions, two choices", chatToCompletions, `{"content":"a"}`, func(i int) sse.Event {
		return sse.Event{Data: fmt.Appendf(nil, `{"id":"chatcmpl-A1","model":"gpt-5.4","choices":[{"index":%d,"delta":{"content":" world %d"}}]}`, i%2, i)}
	}},
	{"messages to completions, text", messagesToCompletions, "", func(i int) sse.Event { return blockDelta(`"text_delta","text":" world %d"`, i) }},
	{"messages to chat, text", messagesToChat, "", func(i int) sse.Event { return blockDelta(`"text_delta","text":" world %d"`, i) }},
	{"messages to chat, arguments", messagesToChat, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, func(i int) sse.Event {
		return blockDelta(`"input_json_delta","partial_json":"\"x\":%d,"`, i)
	}},
	{"messages to chat, members that nobody knows", messagesToChat, "", func(i int) sse.Event { return blockDelta(`"text_delta","text":"a","mood":%d`, i) }},
	{"completions to chat, reasoning", completionsToChat, `{}`, func(i int) sse.Event {
		return sse.Event{Data: fmt.Appendf(nil, `{"model":"m","choices":[{"index":0,"text":"","reasoning":" world %d"}]}`, i)}
	}},
	{"messages to chat, reasoning", messagesToChat, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, func(i int) sse.Event {
		return blockDelta(`"thinking_delta","thinking":" world %d"`, i)
	}},
	{"completions to messages, text", completionsToMessages, `{}`, func(i int) sse.Event {
		return completionChunk(fmt.Sprintf(" world %d", i))
	}},
	{"responses to messages, text", responsesToMessages, responsesItem(messageItem), func(i int) sse.Event {
		return responsesDelta("output_text", `"content_index":0,`, fmt.Sprintf(" world %d", i), i)
	}},
	{"responses to messages, reasoning", responsesToMessages, responsesItem(`{"type":"reasoning","id":"i","summary":[]}`), func(i int) sse.Event {
		return responsesDelta("reasoning_summary_text", `"summary_index":0,`, fmt.Sprintf(" world %d", i), i)
	}},
	{"responses to chat, text", responsesToChat, responsesItem(messageItem), func(i int) sse.Event {
		return responsesDelta("output_text", `"content_index":0,`, fmt.Sprintf(" world %d", i), i)
	}},
	{"responses to chat, arguments", responsesToChat, responsesItem(`{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":"{"}`), func(i int) sse.Event {
		return responsesDelta("function_call_arguments", "", fmt.Sprintf(`\"x\":%d,`, i), i)
	}},
	{"responses to chat, members that nobody knows", responsesToChat, responsesItem(messageItem), func(i int) sse.Event {
		return sse.Event{Data: fmt.Appendf(nil, `{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":" world","mood":%d}`, i)}
	}},
	{"responses to completions, text", responsesToCompletions, responsesItem(messageItem), func(i int) sse.Event {
		return responsesDelta("output_text", `"content_index":0,`, fmt.Sprintf(" world %d", i), i)
	}},
	{"messages to responses, text", messagesToResponses, "", func(i int) sse.Event { return blockDelta(`"text_delta","text":" world %d"`, i) }},
	{"messages to responses, reasoning", messagesToResponses, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`, func(i int) sse.Event {
		return blockDelta(`"thinking_delta","thinking":" world %d"`, i)
	}},
	{"chat to responses, text", chatToResponses, `{"content":"a"}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"content":" world %d"}`, i), i)
	}},
	{"chat to responses, arguments", chatToResponses, `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}]}`, func(i int) sse.Event {
		return benchChunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":"\"x\":%d,"}}]}`, i), i)
	}},
	{"completions to responses, text", completionsToResponses, `{}`, func(i int) sse.Event {
		return completionChunk(fmt.Sprintf(" world %d", i))
	}},
	{"completions to chat, text", completionsToChat, `{}`, func(i int) sse.Event {
		return completionChunk(fmt.Sprintf(" world %d", i))
	}},
}

// blockDelta is a delta as Anthropic sends it.
func blockDelta(format string, i int) sse.Event {
	data := `{"type":"content_block_delta","index":0,"delta":{"type":` + fmt.Sprintf(format, i) + `}}`
	return sse.Event{Name: []byte("content_block_delta"), Data: []byte(data)}
}

const messageItem = `{"type":"message","id":"i","role":"assistant","content":[]}`

// responsesItem is the event that announces an item.
func responsesItem(item string) string {
	return `{"type":"response.output_item.added","output_index":0,"item":` + item + `}`
}

// responsesDelta is a delta as OpenAI sends it, number and padding included.
func responsesDelta(kind, place, text string, i int) sse.Event {
	name := "response." + kind + ".delta"
	data := fmt.Sprintf(`{"type":"%s","sequence_number":%d,"item_id":"i","output_index":0,%s"delta":"%s","logprobs":[],"obfuscation":"%s"}`, name, 100+i, place, text, "abcdefgh"[:1+i%8])
	return sse.Event{Name: []byte(name), Data: []byte(data)}
}

// begin puts what comes before the deltas through a translator.
func (w way) begin(t *pairs.Translator, first string) {
	switch {
	case first == "":
		return
	case w.source == translate.Messages, w.source == translate.Responses:
		t.Event(sse.Event{Data: []byte(first)})
	default:
		t.Event(benchChunk(first, 0))
	}
	t.Output()
}

// completionChunk is a chunk as vLLM sends it.
func completionChunk(text string) sse.Event {
	return sse.Event{Data: []byte(`{"id":"cmpl-1","object":"text_completion","created":1790000000,"model":"starcoder2",` +
		`"choices":[{"index":0,"text":"` + text + `","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}`)}
}

// templated is the memory of a request that became the prompt of a template.
var templated = translate.AnswerContext{Stream: true, Cuts: translate.Cuts{Enforced: []string{"\n\nHuman:"}, LeadingSpace: true}}

// steady is the memory of a request for a stream.
func (w way) steady() *translate.AnswerContext {
	if w.source == translate.Completions {
		return &templated
	}
	return &translate.AnswerContext{Stream: true}
}

func BenchmarkDelta(b *testing.B) {
	for _, tt := range deltas {
		b.Run(tt.name, func(b *testing.B) {
			t := pairs.NewTranslator(tt.way.source, tt.way.target, tt.way.steady(), newIDs())
			tt.way.begin(t, tt.first)
			var events [16]sse.Event
			for i := range events {
				events[i] = tt.delta(i)
			}
			b.SetBytes(int64(len(events[0].Data)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				t.Event(events[i%len(events)])
				if len(t.Output()) == 0 {
					b.Fatal("nothing was written")
				}
			}
		})
	}
}

// longAnswer is a JSON answer of about 8 KB.
func longAnswer(format translate.Format) []byte {
	prose := strings.Repeat(`It does what \"main.go\" says.\nNothing else — at all. `, 120)
	switch format {
	case translate.Chat:
		return []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1790000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + prose + `","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":1700,"total_tokens":10700}}`)
	case translate.Responses:
		return []byte(`{"id":"resp_1","object":"response","created_at":1790000000,"model":"m","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"` + prose + `","annotations":[]}]}],"usage":{"input_tokens":9000,"output_tokens":1700,"total_tokens":10700}}`)
	case translate.Gemini:
		return []byte(`{"candidates":[{"content":{"parts":[{"text":"` + prose + `"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9000,"candidatesTokenCount":1700,"totalTokenCount":10700},"modelVersion":"m"}`)
	case translate.Converse:
		return []byte(`{"metrics":{"latencyMs":812},"output":{"message":{"content":[{"text":"` + prose + `"}],"role":"assistant"}},"stopReason":"end_turn","usage":{"inputTokens":9000,"outputTokens":1700,"totalTokens":10700}}`)
	case translate.Completions:
		return []byte(`{"id":"cmpl-1","object":"text_completion","created":1790000000,"model":"m","choices":[{"index":0,"text":"` + prose + `","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9000,"completion_tokens":1700,"total_tokens":10700}}`)
	default:
		return []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"` + prose + `"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9000,"output_tokens":1700}}`)
	}
}

func BenchmarkAnswer(b *testing.B) {
	for _, w := range ways {
		b.Run(string(w.source)+"-"+string(w.target), func(b *testing.B) {
			body := longAnswer(w.source)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				t := pairs.NewTranslator(w.source, w.target, &translate.AnswerContext{}, newIDs())
				if t.Answer(body); len(t.Output()) == 0 {
					b.Fatal("nothing was written")
				}
			}
		})
	}
}

// TestAnAnswerAllocatesLittle ensures that the text of a JSON answer gets its
// memory at once. It grew step by step before, up to seven times the answer. Pools lose
// some of their memory under the race detector: a few allocations more are no growth.
func TestAnAnswerAllocatesLittle(t *testing.T) {
	for _, w := range ways {
		body := longAnswer(w.source)
		allocs := testing.AllocsPerRun(100, func() {
			pairs.NewTranslator(w.source, w.target, &translate.AnswerContext{}, newIDs()).Answer(body)
		})
		assert.LessOrEqual(t, allocs, 36.0, "%s to %s", w.source, w.target)
	}
}

// TestADeltaCostsNoAllocation ensures that a long stream makes no work for the
// collector.
func TestADeltaCostsNoAllocation(t *testing.T) {
	for _, tt := range deltas {
		tr := pairs.NewTranslator(tt.way.source, tt.way.target, tt.way.steady(), newIDs())
		tt.way.begin(tr, tt.first)
		var events [16]sse.Event
		for i := range events {
			events[i] = tt.delta(i)
			tr.Event(events[i])
			tr.Output()
		}
		i := 0
		allocs := testing.AllocsPerRun(100, func() {
			tr.Event(events[i%len(events)])
			tr.Output()
			i++
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations", tt.name, allocs)
		}
	}
}

package pairs_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

var scripts = flag.Int("scripts", 100, "the number of streams that TestComposedStreams composes for each pair")

// TestComposedStreams ensures the invariants of streams of valid, contradictory and
// broken events in any order. A run with more scripts starts with the same ones.
func TestComposedStreams(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			for range *scripts {
				stream, seed := compose(w, randomSteps(random)), random.Uint64()
				requireInvariants(t, w, stream, seed)
			}
		})
	}
}

// randomSteps returns the bytes of a script of up to 60 steps.
func randomSteps(random *rand.Rand) []byte {
	steps := make([]byte, 5+random.IntN(56))
	for i := range steps {
		steps[i] = byte(random.Uint32())
	}
	return steps
}

// fragments are what texts and arguments are made of.
var fragments = []string{
	"", " ", "\n", "a", "Hello, wörld ☂", "{", "}", `{"x":`, "1}", "{}", "[", "]", `"`, `"{\"x\":1}"`, "null", "12", "\\", "END", "\x00", "😀",
}

// script turns bytes into choices.
type script struct{ steps []byte }

func (s *script) next(n int) int {
	if len(s.steps) == 0 {
		return 0
	}
	b := int(s.steps[0])
	s.steps = s.steps[1:]
	return b % n
}

func (s *script) fragment() string {
	return string(jsonscan.AppendString(nil, fragments[s.next(len(fragments))]))
}

// chunk composes the data of an event of a chat stream.
func (s *script) chunk() string {
	switch s.next(16) {
	case 0, 1:
		return s.delta(`{"content":` + s.fragment() + `}`)
	case 2:
		return s.delta(`{"reasoning_content":` + s.fragment() + `}`)
	case 3:
		return s.delta(`{"refusal":` + s.fragment() + `}`)
	case 4, 5, 6, 7:
		return s.delta(`{"tool_calls":[` + s.entry() + `]}`)
	case 8:
		return s.delta(`{"content":` + s.fragment() + `,"tool_calls":[` + s.entry() + `,` + s.entry() + `]}`)
	case 9:
		return s.delta(`{"thinking_blocks":[{"type":"thinking","thinking":` + s.fragment() + `,"signature":` + s.fragment() + `}]}`)
	case 10:
		return `{"choices":[],"usage":` + s.usage() + `}`
	case 11, 12:
		words := []string{"stop", "length", "tool_calls", "content_filter", "error", "other"}
		return fmt.Sprintf(`{"choices":[{"index":%d,"delta":{},"finish_reason":"%s"}]}`, s.next(2), words[s.next(len(words))])
	case 13:
		return "[DONE]"
	case 14:
		return s.delta(`{"content":[{"type":"text","text":` + s.fragment() + `},{"type":"text","text":` + s.fragment() + `}]}`)
	default:
		return []string{`{"error":{"message":"no"}}`, `{"choices":[`, `{"choices":[{}]}`, `{}`}[s.next(4)]
	}
}

func (s *script) delta(delta string) string {
	logprobs := "null"
	if s.next(8) == 1 {
		logprobs = `{"content":[{"token":` + s.fragment() + `,"logprob":-1,"top_logprobs":[]}]}`
	}
	return fmt.Sprintf(`{"model":"m","choices":[{"index":%d,"delta":%s,"logprobs":%s}]%s}`, max(0, s.next(8)-6), delta, logprobs, s.runningUsage())
}

// usage composes the usage of a chat or completions stream. Later counts may be smaller
// than earlier ones, or missing.
func (s *script) usage() string {
	return []string{
		`{"prompt_tokens":7,"completion_tokens":3}`,
		`{"prompt_tokens":5,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":5}}`,
		`{"prompt_tokens":8,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":6}}`,
		`{"prompt_tokens":0,"completion_tokens":0}`,
		`{"prompt_tokens":5,"completion_tokens":2,"total_tokens":10}`,
		`{"completion_tokens_details":{"reasoning_tokens":0},"total_tokens":0,"prompt_cache_hit_tokens":2}`,
		`{"completion_tokens":-1}`,
		`null`,
	}[s.next(8)]
}

// runningUsage composes the usage that some servers report beside each text.
func (s *script) runningUsage() string {
	if s.next(4) > 0 {
		return ""
	}
	return `,"usage":` + s.usage()
}

// messagesUsage composes the usage of an event of a messages stream.
func (s *script) messagesUsage() string {
	return []string{
		`{"output_tokens":9}`,
		`{"input_tokens":3}`,
		`{"input_tokens":3,"output_tokens":8,"output_tokens_details":{"thinking_tokens":5}}`,
		`{"input_tokens":2,"output_tokens":1,"cache_read_input_tokens":6,"cache_creation_input_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":3}}`,
		`{"input_tokens":0,"output_tokens":0,"output_tokens_details":{"thinking_tokens":0},"service_tier":"priority"}`,
		`null`,
	}[s.next(6)]
}

// responsesUsage composes the usage of a response.
func (s *script) responsesUsage() string {
	return []string{
		`{"input_tokens":7,"output_tokens":3}`,
		`{"input_tokens":7,"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5}}`,
		`{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":6}}`,
		`{"input_tokens":0,"output_tokens":0,"output_tokens_details":{"reasoning_tokens":0}}`,
		`null`,
	}[s.next(5)]
}

// entry composes an entry of tool_calls.
func (s *script) entry() string {
	index := []string{`"index":0,`, `"index":1,`, `"index":2,`, `"index":-1,`, ``}[s.next(5)]
	id := []string{``, `"id":"a",`, `"id":"b",`, `"id":"functions.f:0",`, `"id":null,`}[s.next(5)]
	name := []string{``, `"name":"f",`, `"name":"g",`}[s.next(3)]
	return `{` + index + id + `"function":{` + name + `"arguments":` + s.fragment() + `}}`
}

// event composes the data of an event of a messages stream.
func (s *script) event() string {
	index := s.next(4)
	switch s.next(14) {
	case 12:
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"signature_delta","signature":%s}}`, index, s.fragment())
	case 13:
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"redacted_thinking","data":%s}}`, index, s.fragment())
	case 0:
		return `{"type":"message_start","message":{"model":"m","usage":` + s.messagesUsage() + `}}`
	case 1:
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":%s}}`, index, s.fragment())
	case 2:
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"thinking","thinking":"","signature":""}}`, index)
	case 3:
		return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, index)
	case 4, 5:
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, index, s.fragment())
	case 6:
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"thinking_delta","thinking":%s}}`, index, s.fragment())
	case 7:
		return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, index, s.fragment())
	case 8:
		return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index)
	case 9:
		reasons := []string{`"end_turn"`, `"max_tokens"`, `"tool_use"`, `"refusal"`, `"other"`, "null"}
		return `{"type":"message_delta","delta":{"stop_reason":` + reasons[s.next(len(reasons))] + `},"usage":` + s.messagesUsage() + `}`
	case 10:
		return `{"type":"message_stop"}`
	default:
		return []string{`{"type":"error","error":{"message":"no"}}`, `{"type":"ping"}`, `{"type":"content_block_delta"`, `{}`}[s.next(4)]
	}
}

// completion composes the data of an event of a completions stream.
func (s *script) completion() string {
	switch s.next(8) {
	case 0, 1, 2, 3:
		logprobs := "null"
		if s.next(4) == 1 {
			logprobs = `{"tokens":[` + s.fragment() + `],"token_logprobs":[-1],"top_logprobs":[{` + s.fragment() + `:-2}]}`
		}
		return fmt.Sprintf(`{"model":"m","choices":[{"index":%d,"text":%s,"logprobs":%s}]%s}`, max(0, s.next(8)-6), s.fragment(), logprobs, s.runningUsage())
	case 4:
		return `{"choices":[],"usage":` + s.usage() + `}`
	case 5, 6:
		words := []string{"stop", "length", "content_filter", "error", "other"}
		return fmt.Sprintf(`{"choices":[{"index":%d,"text":%s,"finish_reason":"%s"}]}`, s.next(2), s.fragment(), words[s.next(len(words))])
	default:
		return []string{"[DONE]", `{"error":{"message":"no"}}`, `{"choices":[`, `{"choices":[{}]}`, `{}`}[s.next(5)]
	}
}

// response composes the data of an event of a responses stream.
func (s *script) response() string {
	output, part := s.next(4), s.next(2)
	place := fmt.Sprintf(`"item_id":"i%d","output_index":%d,"content_index":%d,"summary_index":%d`, output, output, part, part)
	switch s.next(14) {
	case 0:
		return `{"type":"response.created","response":{"id":"r","model":"m","created_at":5,"status":"in_progress","output":[],"usage":` + s.responsesUsage() + `}}`
	case 1:
		return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, output, s.item(output, true))
	case 2, 3:
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, output, s.item(output, false))
	case 4, 5:
		return fmt.Sprintf(`{"type":"response.output_text.delta",%s,"delta":%s,"logprobs":[]}`, place, s.fragment())
	case 6:
		return fmt.Sprintf(`{"type":"response.refusal.delta",%s,"delta":%s}`, place, s.fragment())
	case 7:
		kinds := []string{"reasoning_summary_text", "reasoning_text"}
		return fmt.Sprintf(`{"type":"response.%s.delta",%s,"delta":%s}`, kinds[s.next(2)], place, s.fragment())
	case 8, 9:
		kinds := []string{"function_call_arguments", "custom_tool_call_input"}
		return fmt.Sprintf(`{"type":"response.%s.delta",%s,"delta":%s}`, kinds[s.next(2)], place, s.fragment())
	case 10:
		words := []string{`output_text.done","text`, `function_call_arguments.done","arguments`, `reasoning_summary_text.done","text`}
		return fmt.Sprintf(`{"type":"response.%s":%s,%s}`, words[s.next(3)], s.fragment(), place)
	case 11:
		reasons := []string{`"max_output_tokens"`, `"content_filter"`}
		return fmt.Sprintf(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":%s},"output":[]}}`, reasons[s.next(2)])
	case 12:
		return fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","output":[%s],"usage":%s}}`, s.item(0, false), s.responsesUsage())
	default:
		return []string{`{"type":"error","message":"no"}`, `{"type":"response.failed","response":{"error":{"message":"no"}}}`, `{"type":"response.output_text.delta"`, `{"type":"keepalive"}`, `{}`}[s.next(5)]
	}
}

// generated composes a part of an answer of Gemini.
func (s *script) generated() string {
	parts := func(part string) string {
		return `{"modelVersion":"m","candidates":[{"content":{"role":"model","parts":[` + part + `]}}]}`
	}
	switch s.next(12) {
	case 0, 1, 2:
		return parts(`{"text":` + s.fragment() + `}`)
	case 3, 4:
		return parts(`{"text":` + s.fragment() + `,"thought":true},{"text":` + s.fragment() + `}`)
	case 5:
		return parts(`{"text":` + s.fragment() + `,"thoughtSignature":"c2ln"}`)
	case 6, 7:
		return parts(fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"f","args":{"a":%s}},"thoughtSignature":"c2ln"}`, s.next(3), s.fragment()))
	case 8:
		return fmt.Sprintf(`{"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d}}`, s.next(9), s.next(5), s.next(9), s.next(5))
	case 9, 10:
		words := []string{"STOP", "MAX_TOKENS", "SAFETY", "OTHER", "MALFORMED_FUNCTION_CALL"}
		return `{"candidates":[{"finishReason":"` + words[s.next(len(words))] + `"}]}`
	default:
		return []string{`{"error":{"code":503,"message":"no"}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, `{"candidates":[{"content"`, `{"candidates":[]}`, `{}`}[s.next(5)]
	}
}

// conversed composes an event of Converse, with its name in front of its data.
func (s *script) conversed() string {
	index := s.next(2)
	delta := func(delta string) string {
		return fmt.Sprintf(`contentBlockDelta{"contentBlockIndex":%d,"delta":{%s},"p":"ab"}`, index, delta)
	}
	switch s.next(12) {
	case 0, 1, 2:
		return delta(`"text":` + s.fragment())
	case 3, 4:
		return delta(`"reasoningContent":{"text":` + s.fragment() + `}`)
	case 5:
		return delta([]string{`"reasoningContent":{"signature":"c2ln"}`, `"reasoningContent":{"redactedContent":"c2ln"}`}[s.next(2)])
	case 6:
		return fmt.Sprintf(`contentBlockStart{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":"c%d","name":"f"}}}`, index, s.next(3))
	case 7:
		return delta(`"toolUse":{"input":` + s.fragment() + `}`)
	case 8:
		return fmt.Sprintf(`contentBlockStop{"contentBlockIndex":%d}`, index)
	case 9:
		return fmt.Sprintf(`metadata{"usage":{"inputTokens":%d,"cacheReadInputTokens":%d,"outputTokens":%d}}`, s.next(9), s.next(5), s.next(9))
	case 10:
		words := []string{"end_turn", "max_tokens", "tool_use", "guardrail_intervened", "malformed_tool_use", "new"}
		return `messageStop{"stopReason":"` + words[s.next(len(words))] + `"}`
	default:
		return []string{`error{"type":"error","error":{"type":"overloaded_error","message":"no"}}`, `messageStart{"role":"assistant"}`, `contentBlockDelta{"delta"`, `newEvent{}`, `contentBlockDelta{}`}[s.next(5)]
	}
}

// item composes an item of a response, empty if it is announced.
func (s *script) item(id int, empty bool) string {
	text := `""`
	if !empty {
		text = s.fragment()
	}
	switch s.next(6) {
	case 0, 1:
		return fmt.Sprintf(`{"type":"message","id":"i%d","content":[{"type":"output_text","text":%s}]}`, id, text)
	case 2:
		return fmt.Sprintf(`{"type":"reasoning","id":"i%d","summary":[{"type":"summary_text","text":%s}],"encrypted_content":%s}`, id, text, s.fragment())
	case 3:
		return fmt.Sprintf(`{"type":"function_call","id":"i%d","call_id":"c%d","name":"f","arguments":%s}`, id, id, text)
	case 4:
		return fmt.Sprintf(`{"type":"custom_tool_call","id":"i%d","call_id":"c%d","name":"g","input":%s}`, id, id, text)
	default:
		return fmt.Sprintf(`{"type":"web_search_call","id":"i%d"}`, id)
	}
}

// compose composes a stream. Half of the scripts get an end, which most of them lack.
func compose(w way, steps []byte) []byte {
	s := &script{steps}
	ends := s.next(2) == 1
	var b bytes.Buffer
	for len(s.steps) > 0 {
		b.Write(framed(w, s.datum(w)))
	}
	if ends {
		for _, data := range endings[w.source] {
			b.Write(framed(w, data))
		}
	}
	return b.Bytes()
}

// datum composes the data of an event of the provider's format.
func (s *script) datum(w way) string {
	switch w.source {
	case translate.Chat:
		return s.chunk()
	case translate.Completions:
		return s.completion()
	case translate.Responses:
		return s.response()
	case translate.Gemini:
		return s.generated()
	case translate.Converse:
		return s.conversed()
	default:
		return s.event()
	}
}

// framed returns an event of the provider's stream.
func framed(w way, data string) []byte {
	switch w.source {
	case translate.Messages:
		return messagesStream(data)
	case translate.Converse:
		return converseStream(data)
	}
	return []byte("data: " + data + "\n\n")
}

// endings are the last events of whole streams.
var endings = map[translate.Format][]string{
	translate.Chat:        {`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":4}}`, `[DONE]`},
	translate.Completions: {`{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":4}}`, `[DONE]`},
	translate.Messages:    {`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}`, `{"type":"message_stop"}`},
	translate.Gemini:      {`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":4}}`},
	translate.Converse:    {`messageStop{"stopReason":"end_turn"}`, `metadata{"usage":{"inputTokens":7,"outputTokens":4}}`},
	translate.Responses:   {`{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":7,"output_tokens":4}}}`},
}

package pairs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// The fuzz targets feed two kinds of streams: the bytes as they are, and a
// conversation that is composed from them, which gets further: every byte
// chooses a step, so that mutations reorder, repeat and leave out steps.

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
	return fmt.Sprintf(`{"model":"m","choices":[{"index":%d,"delta":%s,"logprobs":%s}]}`, max(0, s.next(8)-6), delta, logprobs)
}

// usage composes the usage of a chat or completions stream. Later counts may be smaller
// than earlier ones, or missing.
func (s *script) usage() string {
	return []string{
		`{"prompt_tokens":7,"completion_tokens":3}`,
		`{"prompt_tokens":5,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":5}}`,
		`{"prompt_tokens":8,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":6}}`,
		`{"prompt_tokens":0,"completion_tokens":0}`,
		`{"completion_tokens":-1}`,
		`null`,
	}[s.next(6)]
}

// messagesUsage composes the usage of an event of a messages stream.
func (s *script) messagesUsage() string {
	return []string{
		`{"output_tokens":9}`,
		`{"input_tokens":3}`,
		`{"input_tokens":3,"output_tokens":8,"output_tokens_details":{"thinking_tokens":5}}`,
		`{"input_tokens":2,"output_tokens":1,"cache_read_input_tokens":6,"cache_creation_input_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":3}}`,
		`{"input_tokens":0,"output_tokens":0,"service_tier":"priority"}`,
		`null`,
	}[s.next(6)]
}

// responsesUsage composes the usage of a response.
func (s *script) responsesUsage() string {
	return []string{
		`{"input_tokens":7,"output_tokens":3}`,
		`{"input_tokens":7,"output_tokens":9,"output_tokens_details":{"reasoning_tokens":5}}`,
		`{"input_tokens":9,"output_tokens":2,"input_tokens_details":{"cached_tokens":6}}`,
		`null`,
	}[s.next(4)]
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
		return fmt.Sprintf(`{"model":"m","choices":[{"index":%d,"text":%s,"logprobs":%s}]}`, max(0, s.next(8)-6), s.fragment(), logprobs)
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

// compose composes a stream.
func compose(w way, steps []byte) []byte {
	s := &script{steps}
	var b bytes.Buffer
	for len(s.steps) > 0 {
		switch w.from {
		case translate.Chat:
			b.WriteString("data: " + s.chunk() + "\n\n")
		case translate.Completions:
			b.WriteString("data: " + s.completion() + "\n\n")
		case translate.Responses:
			b.WriteString("data: " + s.response() + "\n\n")
		default:
			b.Write(messagesStream(s.event()))
		}
	}
	return b.Bytes()
}

func fuzzWay(f *testing.F, w way) {
	for _, r := range everyStream(f) {
		if r.format == w.from {
			f.Add(r.bytes, uint64(1))
		}
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		steps := make([]byte, 40)
		for i := range steps {
			steps[i] = byte(random.Uint32())
		}
		f.Add(steps, uint64(random.Uint32()))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		for _, stream := range [][]byte{data, compose(w, data)} {
			requireInvariants(t, w, stream, seed)
		}
	})
}

// requireInvariants requires of any stream whatever: that both forms of the
// answer agree, that the streamed one follows the laws of its format, and that
// the chunks in which it came do not matter.
func requireInvariants(t *testing.T, w way, data []byte, seed uint64) {
	for _, enforce := range [][]string{nil, {"\n", "☂"}} {
		streaming, whole := w.remembered(true), w.remembered(false)
		streaming.Enforce, whole.Enforce = enforce, enforce
		streaming.LeadingSpace, whole.LeadingSpace = seed%5 == 0, seed%5 == 0
		streaming.Logprobs, whole.Logprobs = seed%2 == 0, seed%2 == 0
		stream := translated(w, streaming, [][]byte{data}, seed%3 > 0)
		answer := translated(w, whole, [][]byte{data}, seed%3 > 0)
		requireAgreement(t, w, stream, answer)

		random := rand.New(rand.NewPCG(seed, 0))
		again := translated(w, streaming, split(data, func() int { return 1 + random.IntN(50) }), seed%3 > 0)
		require.Equal(t, stream.out, again.out)
		require.Equal(t, stream.signals, again.signals)
	}
}

func FuzzAnswerChatToMessages(f *testing.F) { fuzzWay(f, chatToMessages) }

func FuzzAnswerChatToCompletions(f *testing.F) { fuzzWay(f, chatToCompletions) }

func FuzzAnswerMessagesToCompletions(f *testing.F) { fuzzWay(f, messagesToCompletions) }

func FuzzAnswerCompletionsToMessages(f *testing.F) { fuzzWay(f, completionsToMessages) }

func FuzzAnswerMessagesToChat(f *testing.F) { fuzzWay(f, messagesToChat) }

func FuzzAnswerCompletionsToChat(f *testing.F) { fuzzWay(f, completionsToChat) }

func FuzzAnswerResponsesToMessages(f *testing.F) { fuzzWay(f, responsesToMessages) }

func FuzzAnswerResponsesToChat(f *testing.F) { fuzzWay(f, responsesToChat) }

func FuzzAnswerResponsesToCompletions(f *testing.F) { fuzzWay(f, responsesToCompletions) }

func FuzzAnswerMessagesToResponses(f *testing.F) { fuzzWay(f, messagesToResponses) }

func FuzzAnswerChatToResponses(f *testing.F) { fuzzWay(f, chatToResponses) }

func FuzzAnswerCompletionsToResponses(f *testing.F) { fuzzWay(f, completionsToResponses) }

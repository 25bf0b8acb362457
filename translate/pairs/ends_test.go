package pairs_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/sse"
)

// content is what an answer contains before its end, in the words of a format.
type content struct{ part, fragments string }

// contents of answers: a text, a call whose arguments break off, and nothing. Formats without a
// call that breaks off lack one.
var (
	someText = map[translate.Format]content{
		translate.Messages:    {`{"type":"text","text":"half"}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"half"}}|{"type":"content_block_stop","index":0}`},
		translate.Chat:        {`"content":"half"`, `"content":"half"`},
		translate.Completions: {`"text":"half"`, `"text":"half"`},
		translate.Responses:   {`{"type":"message","status":"incomplete","content":[{"type":"output_text","text":"half"}]}`, `{"type":"response.output_text.delta","output_index":0,"delta":"half"}`},
		translate.Gemini:      {`{"text":"half"}`, `{"text":"half"}`},
		translate.Converse:    {`{"text":"half"}`, `contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"half"}}`},
	}
	openCalls = map[translate.Format]content{
		translate.Messages: {"", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c1","name":"f","input":{}}}|` +
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"cmd\":\"rm -rf build"}}|{"type":"content_block_stop","index":0}`},
		translate.Chat: {`"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"cmd\":\"rm -rf build"}}]`,
			`"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{\"cmd\":\"rm -rf build"}}]`},
		translate.Responses: {`{"type":"function_call","call_id":"c1","name":"f","status":"incomplete","arguments":"{\"cmd\":\"rm -rf build"}`,
			`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"x1","call_id":"c1","name":"f","arguments":""}}|` +
				`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"x1","delta":"{\"cmd\":\"rm -rf build"}`},
		translate.Converse: {"", `contentBlockStart{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"c1","name":"f"}}}|` +
			`contentBlockDelta{"contentBlockIndex":0,"delta":{"toolUse":{"input":"{\"cmd\":\"rm -rf build"}}}|contentBlockStop{"contentBlockIndex":0}`},
	}
	noContent = map[translate.Format]content{
		translate.Messages: {}, translate.Chat: {`"content":""`, `"content":""`}, translate.Completions: {`"text":""`, `"text":""`},
		translate.Responses: {}, translate.Gemini: {}, translate.Converse: {},
	}
)

// splitFragments returns the events of a stream with the content.
func splitFragments(c content) []string {
	if c.fragments == "" {
		return nil
	}
	return strings.Split(c.fragments, "|")
}

// ended returns a stream and a JSON answer of a format that end with a word. whole is "" if there
// is no such JSON answer.
func ended(format translate.Format, c content, word string) (stream []byte, whole string) {
	fragments := splitFragments(c)
	switch format {
	case translate.Messages:
		events := append([]string{`{"type":"message_start","message":{"model":"m"}}`}, fragments...)
		stream = messagesStream(append(events, `{"type":"message_delta","delta":{"stop_reason":"`+word+`"}}`, `{"type":"message_stop"}`)...)
		whole = `{"model":"m","content":[` + c.part + `],"stop_reason":"` + word + `"}`
	case translate.Chat, translate.Completions:
		choice := func(content, end string) string {
			if format == translate.Chat {
				content = `"delta":{` + content + `}`
			}
			return `{"model":"m","choices":[{"index":0,` + content + `,"finish_reason":` + end + `}]}`
		}
		last := noContent[format].fragments
		if c.fragments == "" {
			c.fragments = last
		}
		stream = chatStream(nil, choice(c.fragments, "null"), choice(last, `"`+word+`"`), "[DONE]")
		whole = strings.Replace(choice(c.part, `"`+word+`"`), `"delta"`, `"message"`, 1)
	case translate.Responses:
		whole = `{"model":"m","status":"incomplete","incomplete_details":{"reason":"` + word + `"},"output":[` + c.part + `]}`
		last := `{"type":"response.incomplete","response":` + whole + `}`
		stream = responsesStream(append([]string{`{"type":"response.created","response":{"model":"m","output":[]}}`}, append(fragments, last)...)...)
		return stream, whole
	case translate.Gemini:
		chunk := func(part, end string) string {
			return `{"modelVersion":"m","candidates":[{"content":{"parts":[` + part + `]}` + end + `}]}`
		}
		end := `,"finishReason":"` + word + `"`
		stream, whole = chatStream(nil, chunk(c.fragments, ""), chunk("", end)), chunk(c.part, end)
	case translate.Converse:
		stream = converseStream(append(fragments, `messageStop{"stopReason":"`+word+`"}`, `metadata{}`)...)
		whole = `{"output":{"message":{"content":[` + c.part + `]}},"stopReason":"` + word + `"}`
	}
	if c.part == "" && c.fragments != "" {
		whole = ""
	}
	return stream, whole
}

// endsOf returns the translations of a stream and of a JSON answer, each as both.
func endsOf(w way, c content, word string) (all []outcome) {
	stream, whole := ended(w.source, c, word)
	for _, streaming := range []bool{true, false} {
		all = append(all, translated(w, w.remembered(streaming), [][]byte{stream}, true))
		if whole != "" {
			all = append(all, answered(w, w.remembered(streaming), []byte(whole)))
		}
	}
	return all
}

// The words of services for the ends of turns, by their meaning. Those in brokenWords end no
// turn.
var (
	brokenWords = []string{
		"abort", "error", "network_error", "insufficient_system_resource", "cancelled", "ERROR", "TIMEOUT", "USER_CANCEL",
		"not_finished", "modelUnloaded", "MALFORMED_RESPONSE", "malformed_tool_use", "server_disconnected", "worker-crashed",
		"timed_out", "preempt", "ALTERNATIVE_STATUS_PARTIAL", "STOP_REASON_ERROR", "engine_dead", "out_of_memory", "connection-reset",
		"OTHER", "IMAGE_OTHER", "terminated", "throttled_by_scheduler", "server_busy", "DEADLINE_EXCEEDED",
	}
	boundWords = []string{
		"length", "max_tokens", "MAX_TOKENS", "model_length", "token_limit", "time_limit", "repetition", "maxPredictedTokensReached",
		"model_context_window_exceeded", "ERROR_LIMIT", "REASON_MAX_LEN", "thinking_budget_exceeded",
		"maximum_tokens", "ALTERNATIVE_STATUS_TRUNCATED_FINAL", "stop_reason_max_tokens", " length ",
		"context", "out_of_tokens", "num_predict", "loop_detected", "contextOverflow", "truncate",
	}
	filterWords = []string{
		"content_filter", "content-filter", "CONTENT_FILTERED", "sensitive", "SAFETY", "ESCALATION", "guardrail_intervened", "refusal",
		"ERROR_TOXIC", "MODEL_ARMOR", "moderation_hit",
		"blacklist", "ALTERNATIVE_STATUS_CONTENT_FILTER", "content filter", "DataInspectionFailed", "jailbreak", "high_risk", "censored",
	}
	wholeWords = []string{
		"stop", "STOP", "end_turn", "eos", "eos_token", "COMPLETE", "STOP_CRITERIA_MET", "FINISH", "eosFound", "FINISH_REASON_STOP",
		"stop_words", "word", "FINISH_MATCHED_TOKEN", "stop_sequence_reached", "ALTERNATIVE_STATUS_FINAL", "STOP_REASON_END_TURN", "<|im_end|>", "stop ", "</eos>", "end_token", "stop_before",
	}
	// The last ones deny what their parts mean.
	plainWords = strings.NewReplacer("TIRED", "tired", "withoutFailure", "without_failure")
	otherWords = []string{"tired", "TIRED", "vendor_reason_7", "no_error", "error_free", "not_truncated", "withoutFailure"}
)

// endWords are the words of clients for the ends of texts: whole, bounded and filtered.
var endWords = map[translate.Format][3]string{
	translate.Messages:    {`"stop_reason":"end_turn"`, `"stop_reason":"max_tokens"`, `"stop_reason":"refusal"`},
	translate.Chat:        {`"finish_reason":"stop"`, `"finish_reason":"length"`, `"finish_reason":"content_filter"`},
	translate.Completions: {`"finish_reason":"stop"`, `"finish_reason":"length"`, `"finish_reason":"content_filter"`},
	translate.Responses:   {`"status":"completed","error"`, `"reason":"max_output_tokens"`, `"reason":"content_filter"`},
	translate.Gemini:      {`"finishReason":"STOP"`, `"finishReason":"MAX_TOKENS"`, `"finishReason":"SAFETY"`},
}

// A server that was scaled down ended its streams with the word abort and [DONE]: a client read half
// of a plan as the whole answer.
func TestAnAnswerThatWasBrokenOffIsAnError(t *testing.T) {
	for _, w := range ways {
		for _, of := range []map[translate.Format]content{someText, openCalls, noContent} {
			c, has := of[w.source]
			if !has {
				continue
			}
			for _, word := range brokenWords {
				for _, o := range endsOf(w, c, word) {
					require.NotNil(t, o.Fault(), "%s: %s", w.name(), word)
					assert.True(t, o.Fault().IsBrokenOff())
					assert.Contains(t, o.Fault().Message, word)
					assert.Equal(t, 502, o.Fault().Status())
					requireUnfinished(t, o)
					if c == noContent[w.source] {
						for _, s := range o.signals {
							assert.False(t, s.Has(signal.Content), "another target can be asked")
						}
					}
				}
			}
		}
	}
}

func TestEndsHaveTheWordsOfClients(t *testing.T) {
	for _, w := range ways {
		for i, words := range [][]string{wholeWords, boundWords, filterWords} {
			if i == 0 && w.source == translate.Responses {
				continue // which states it otherwise
			}
			for _, word := range words {
				for _, o := range endsOf(w, someText[w.source], word) {
					require.Nil(t, o.Fault(), "%s: %s", w.name(), word)
					assert.Contains(t, o.out, endWords[w.target][i], "%s: %s", w.name(), word)
				}
			}
		}
	}
}

// A word that a vendor had added was the ordinary end of half an answer.
func TestAnUnknownWordIsOnlyTheEndOfContent(t *testing.T) {
	for _, w := range ways {
		if w.source == translate.Responses {
			continue // an incomplete response is never whole
		}
		for _, word := range otherWords {
			for _, o := range endsOf(w, someText[w.source], word) {
				require.Nil(t, o.Fault(), "%s: %s", w.name(), word)
				assert.Contains(t, o.out, endWords[w.target][0], w.name())
				assert.Contains(t, o.Losses().String(), "="+plainWords.Replace(word))
			}
			for _, of := range []map[translate.Format]content{openCalls, noContent} {
				if c, has := of[w.source]; has {
					for _, o := range endsOf(w, c, word) {
						require.NotNil(t, o.Fault(), "%s: %s", w.name(), word)
						requireUnfinished(t, o)
					}
				}
			}
		}
	}
}

// A call whose arguments a bound had cut off must not look like one that can be made.
func TestACallThatABoundCutsOffIsNotComplete(t *testing.T) {
	for _, w := range ways {
		c, has := openCalls[w.source]
		if !has || w.target == translate.Completions {
			continue
		}
		for _, word := range boundWords {
			for _, o := range endsOf(w, c, word) {
				require.Nil(t, o.Fault(), "%s: %s: %v", w.name(), word, o.Fault())
				assert.Contains(t, o.out, endWords[w.target][1], "%s: %s", w.name(), word)
				assert.NotContains(t, o.out, `_invalid_arguments`)
				assert.NotContains(t, o.out, `"functionCall"`)
				assert.NotContains(t, o.out, `"status":"completed"`)
			}
		}
	}
}

// A stream without a word for its end may be whole, but not within a call.
func TestAStreamThatEndsWithinACallIsNotWhole(t *testing.T) {
	for _, w := range waysFrom(translate.Chat) {
		stream := chatStream([]string{"{" + openCalls[translate.Chat].fragments + "}"}, "[DONE]")
		assert.NotNil(t, translated(w, w.remembered(true), [][]byte{stream}, true).Fault(), w.name())
	}
}

// A service answered with status 200, no choices or a choice of null, and no word for the end
// (ENTERPILOT/GoModel#947, diegosouzapw/OmniRoute#7000): clients read that the model had nothing to
// say, and no other target was asked.
func TestAnAnswerWithNeitherContentNorAnEndHasFailed(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":3,"completion_tokens":0}`
	nothing := map[translate.Format][]string{
		translate.Chat: {
			`{"choices":[{"message":{"role":"assistant","content":null}}]}`,
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],` + usage + `}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[]}}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"null"}]}`,
		},
		translate.Completions: {
			`{"choices":[{"index":0,"text":""}]}`,
			`{"choices":[{"index":0,"text":null,"finish_reason":null}],` + usage + `}`,
		},
	}
	for _, w := range ways {
		for _, chunk := range append(slices.Clone(nothing[w.source]), `{"choices":[]}`, `{"choices":[],`+usage+`}`) {
			if nothing[w.source] == nil {
				continue
			}
			stream := []byte("data: " + chunk + "\n\ndata: [DONE]\n\n")
			for _, o := range []outcome{
				translated(w, w.remembered(true), [][]byte{stream}, true),
				answered(w, w.remembered(false), []byte(strings.Replace(chunk, `"delta"`, `"message"`, 1))),
			} {
				require.NotNil(t, o.Fault(), "%s: %s", w.name(), chunk)
				assert.Equal(t, 502, o.Fault().Status(), chunk)
				requireUnfinished(t, o)
			}
			observer, lexer := formats.Of(w.source).Answers.NewObserver(), sse.NewLexer(0)
			lexer.Feed(stream)
			for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
				observer.Observe(e)
			}
			require.NotNil(t, observer.Fault(), chunk)
		}
	}
}

// The bytes of an answer in the client's own format are relayed, but the gateway knows that the
// answer is not whole.
func TestObserversSeeThatAnAnswerWasBrokenOff(t *testing.T) {
	for _, format := range known {
		answers := &formats.Of(format).Answers
		for _, word := range brokenWords {
			for c, behind := range map[content]bool{someText[format]: true, noContent[format]: false} {
				stream, whole := ended(format, c, word)
				o, seen := answers.NewObserver(), signal.Signal(0)
				lexer := sse.NewLexer(0)
				lexer.Feed(stream)
				for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
					seen |= o.Observe(e)
				}
				name := fmt.Sprint(format, " ", word, " ", behind)
				require.NotNil(t, o.Fault(), name)
				assert.True(t, o.Fault().IsBrokenOff(), name)
				assert.Equal(t, !behind, seen.Has(signal.Failed), name)
				answer, fault := answers.Inspect([]byte(whole), translate.Generate)
				require.NotNil(t, fault, name)
				assert.True(t, answer.Failed, name)
			}
		}
		stream, whole := ended(format, someText[format], "max_tokens")
		o := answers.NewObserver()
		lexer := sse.NewLexer(0)
		lexer.Feed(stream)
		for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
			o.Observe(e)
		}
		_, fault := answers.Inspect([]byte(whole), translate.Generate)
		assert.Nil(t, o.Fault(), format)
		assert.Nil(t, fault, format)
	}
}

// A service ended its stream behind half of an answer with base_resp, which has a code, and [DONE]:
// the client read the half as the whole answer.
func TestErrorsInShapesOfServicesEndStreams(t *testing.T) {
	for event, status := range map[string]int{
		`{"id":"1","choices":null,"created":1,"model":"m","base_resp":{"status_code":1027,"status_msg":"no"}}`: 502,
		`{"choices":[],"base_resp":{"status_code":1002,"status_msg":"no"}}`:                                    429,
		`{"code":"DataInspectionFailed","message":"no","request_id":"r"}`:                                      502,
		`{"code":500,"msg":"no","success":false}`:                                                              500,
		`{"success":false,"errors":[{"code":401,"message":"no"}],"result":null}`:                               502,
		`{"error_code":17,"error_msg":"no"}`:                                                                   502,
	} {
		for _, w := range ways {
			if w.source != translate.Chat && w.source != translate.Completions {
				continue
			}
			for _, c := range []content{someText[w.source], noContent[w.source]} {
				whole, _ := ended(w.source, c, "stop")
				begun, _, _ := bytes.Cut(whole, []byte("\n\n"))
				stream := slices.Concat(begun, []byte("\n\ndata: "+event+"\n\ndata: [DONE]\n\n"))
				o := translated(w, w.remembered(true), [][]byte{stream}, true)
				require.NotNil(t, o.Fault(), "%s: %s", w.name(), event)
				assert.Equal(t, status, o.Fault().Status(), event)
				requireUnfinished(t, o)
				observer, lexer := formats.Of(w.source).Answers.NewObserver(), sse.NewLexer(0)
				lexer.Feed(stream)
				for e, ok := lexer.Next(); ok; e, ok = lexer.Next() {
					observer.Observe(e)
				}
				require.NotNil(t, observer.Fault(), event)
			}
		}
	}
	for _, chunk := range []string{`{"choices":[],"base_resp":{"status_code":0,"status_msg":"success"}}`, `{"choices":[],"code":200,"message":"ok"}`, `{"choices":[],"code":0,"usage":{"prompt_tokens":3,"completion_tokens":2}}`} {
		w := way{translate.Chat, translate.Messages}
		o := translated(w, w.remembered(true), [][]byte{chatStream([]string{`{"content":"whole"}`}, chunk, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")}, true)
		assert.Nil(t, o.Fault(), chunk)
	}
}

// One of the calls that answer a request together was broken off, and the answer looked whole.
func TestACallOfAFanOutThatWasBrokenOffFails(t *testing.T) {
	w := way{translate.Completions, translate.Completions}
	context := &translate.AnswerContext{}
	fan := pairs.NewFan(w.source, w.target, []*translate.AnswerContext{context, context}, newIDs())
	_, whole := ended(w.source, someText[w.source], "stop")
	_, broken := ended(w.source, someText[w.source], "abort")
	assert.Nil(t, fan[0].Answer([]byte(whole)))
	assert.NotNil(t, fan[1].Answer([]byte(broken)))
	assert.Empty(t, fan[1].Output())
}

// A vendor has a word for an account that it has limited: the same request fails again, and the
// operator has to know.
func TestALimitedAccountIsRefused(t *testing.T) {
	for _, w := range waysFrom(translate.Gemini) {
		for _, o := range endsOf(w, someText[w.source], "PUP_LIMITED_DISABLED") {
			require.NotNil(t, o.Fault(), w.name())
			assert.Equal(t, 403, o.Fault().Status())
			assert.True(t, o.Fault().Final)
		}
	}
}

// A server of the chat format that names the stop text of an answer names it to clients of messages,
// which distinguish it from the end of a turn. The name of SGLang for it was unknown, and a number
// is the token that ended the answer.
func TestServersNameTheStopTextOfAnAnswer(t *testing.T) {
	for _, w := range []way{chatToMessages, completionsToMessages} {
		for _, c := range []struct{ member, want string }{
			{`"stop_reason":"END"`, `"stop_reason":"stop_sequence","stop_sequence":"END"`},
			{`"matched_stop":"END"`, `"stop_reason":"stop_sequence","stop_sequence":"END"`},
			{`"stop_reason":null,"matched_stop":"END"`, `"stop_reason":"stop_sequence","stop_sequence":"END"`},
			{`"matched_stop":128001`, `"stop_reason":"end_turn","stop_sequence":null`},
			{`"matched_stop":"another"`, `"stop_reason":"end_turn","stop_sequence":null`},
		} {
			stream, whole := ended(w.source, content{part: textOf[w.source], fragments: textOf[w.source]}, "stop")
			add := func(answer []byte) []byte {
				return []byte(strings.ReplaceAll(string(answer), `"finish_reason":"stop"`, `"finish_reason":"stop",`+c.member))
			}
			asked := w.remembered(true)
			asked.Cuts.Stops = []string{"END"}
			assert.Contains(t, translated(w, asked, [][]byte{add(stream)}, true).out, c.want, "%s, %s", w.name(), c.member)
			asked.Stream = false
			assert.Contains(t, answered(w, asked, add([]byte(whole))).out, c.want, "%s, %s", w.name(), c.member)
		}
	}
}

// textOf is a text in the choice of a chunk, or of an answer.
var textOf = map[translate.Format]string{translate.Chat: `"content":"a"`, translate.Completions: `"text":"a"`}

// Gemini, and hubs in front of other services, state in each part of a stream that it ends. Clients
// of messages got each part of a text from Gemini as a block of its own, of which many read the first.
func TestATextGoesOnBehindAReasonToEnd(t *testing.T) {
	streams := map[translate.Format][]byte{
		translate.Gemini: chatStream(nil,
			`{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"a","thought":true}]},"finishReason":"STOP"}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"b","thought":true}]},"finishReason":"STOP"}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"c"}]},"finishReason":"STOP"}]}`,
			`{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}`,
			`{"candidates":[{"content":{"parts":[{"text":"d"}]},"finishReason":"STOP"}]}`),
		translate.Chat: chatStream(nil,
			`{"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"a"},"finish_reason":"stop"}]}`,
			`{"choices":[{"index":0,"delta":{"reasoning_content":"b"},"finish_reason":"stop"}]}`,
			`{"choices":[{"index":0,"delta":{"content":"c"},"finish_reason":"stop"}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			`{"choices":[{"index":0,"delta":{"content":"d"},"finish_reason":"stop"}]}`, "[DONE]"),
	}
	for _, w := range []way{geminiToMessages, geminiToResponses, chatToMessages, chatToResponses} {
		got := translated(w, w.remembered(true), [][]byte{streams[w.source]}, true)
		require.True(t, got.Finished(), w.name())
		added, err := w.added(got.out, false)
		require.NoError(t, err, w.name())
		answer := fmt.Sprint(added)
		assert.Contains(t, answer, ":ab", w.name())
		assert.Contains(t, answer, ":cd", w.name())
	}
}

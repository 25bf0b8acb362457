package pairs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/signal"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// messagesChat is the way of answers of messages providers to chat clients.
var messagesChat = way{translate.Messages, translate.Chat}

// answer is a messages answer of that content, in one body.
func answerOf(content, reason, usage string) []byte {
	return []byte(`{"type":"message","model":"m","content":[` + content + `],"stop_reason":` + reason + `,"usage":{` + usage + `}}`)
}

// streamOf is the stream of messages events between a start and an end.
func streamOf(reason string, events ...string) []byte {
	all := append([]string{`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":3,"output_tokens":1}}}`}, events...)
	return messagesStream(append(all,
		`{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":15}}`, `{"type":"message_stop"}`)...)
}

func beginBlock(index, block string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":` + block + `}`
}

func addBlock(index, delta string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":` + delta + `}`
}

func endBlock(index string) string { return `{"type":"content_block_stop","index":` + index + `}` }

// toChat puts a stream through, for a client that asked for usage, and adds it up
// as an official client does.
func toChat(t *testing.T, m translate.AnswerContext, stream []byte) (client.Object, outcome) {
	t.Helper()
	m.Stream, m.IncludeUsage = true, true
	o := translated(messagesChat, m, [][]byte{stream}, true)
	require.True(t, o.Finished())
	added, err := client.Chat.Emitted([]byte(o.out))
	require.NoError(t, err, o.out)
	require.Contains(t, added, "usage")
	return added, o
}

func firstChoice(o client.Object) client.Object {
	return o["choices"].([]any)[0].(client.Object)
}

func TestG050CachedTokensAreInputToo(t *testing.T) {
	const counts = `"input_tokens":3,"cache_creation_input_tokens":12304,"cache_read_input_tokens":0,"output_tokens":550`
	o := answered(messagesChat, translate.AnswerContext{}, answerOf("", `"end_turn"`, counts))
	assert.Contains(t, o.out, `"usage":{"prompt_tokens":12307,"completion_tokens":550,"total_tokens":12857,"prompt_tokens_details":{"cached_tokens":0,"text_tokens":12307,"audio_tokens":0,"image_tokens":0,"cache_write_tokens":12304}`)
}

func TestG053ToolUseFinishesWithItsCalls(t *testing.T) {
	o := answered(messagesChat, translate.AnswerContext{}, answerOf(`{"type":"tool_use","id":"t1","name":"f","input":{ "a" : 1 }}`, `"tool_use"`, ""))
	assert.Contains(t, o.out, `"content":null,"refusal":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`)
	assert.Contains(t, o.out, `"finish_reason":"tool_calls"`)
}

func TestG054EveryStopReasonHasAWord(t *testing.T) {
	for reason, want := range map[string]string{
		"max_tokens": "length", "model_context_window_exceeded": "length", "pause_turn": "length", "compaction": "length",
		"end_turn": "stop", "stop_sequence": "stop", "refusal": "content_filter", "a_new_word": "stop",
	} {
		o := answered(messagesChat, translate.AnswerContext{}, answerOf(textBlock("a"), `"`+reason+`"`, ""))
		require.Nil(t, o.Fault(), reason)
		assert.Contains(t, o.out, `"finish_reason":"`+want+`"`, reason)
	}
	o := answered(messagesChat, translate.AnswerContext{}, answerOf(`{"type":"tool_use","id":"t1","name":"f","input":{}}`, `null`, ""))
	assert.Contains(t, o.out, `"arguments":"{}"`)
}

func TestG074ThinkingComesBackWithItsSignature(t *testing.T) {
	added, o := toChat(t, translate.AnswerContext{}, streamOf("end_turn",
		beginBlock("0", `{"type":"thinking","thinking":"","signature":""}`), addBlock("0", `{"type":"thinking_delta","thinking":"hm"}`),
		addBlock("0", `{"type":"signature_delta","signature":"S=="}`), endBlock("0"),
		beginBlock("1", `{"type":"redacted_thinking","data":"D"}`), endBlock("1"),
		beginBlock("2", `{"type":"text","text":""}`), addBlock("2", `{"type":"text_delta","text":"a"}`), endBlock("2")))
	message := firstChoice(added)["message"].(client.Object)
	assert.Equal(t, "hm", message["reasoning_content"])
	assert.Equal(t, "a", message["content"])
	const blocks = `{"type":"thinking","thinking":"hm","signature":"S=="}`
	assert.Contains(t, o.out, `"delta":{"thinking_blocks":[`+blocks+`]}`)

	// What the client sends back is what the provider has signed.
	body := talk(hi + `,{"role":"assistant","content":"a","reasoning_content":"hm","thinking_blocks":[` + blocks + `,{"type":"redacted_thinking","data":"D"}]},` + bye)
	out, r := renderCaseOf(t, translate.Chat, translate.Messages, renderCase{body: body})
	assert.Contains(t, string(out), messageOf("assistant", blocks, `{"type":"redacted_thinking","data":"D"}`, textBlock("a")))
	assert.Empty(t, r.Losses)
}

func TestG075CallsAreNumberedFromZero(t *testing.T) {
	use := func(name string) string {
		return `{"type":"tool_use","id":"` + name + `","name":"` + name + `","input":{}}`
	}
	_, o := toChat(t, translate.AnswerContext{}, streamOf("tool_use",
		beginBlock("0", `{"type":"text","text":"a"}`), endBlock("0"),
		beginBlock("1", use("f")), addBlock("1", `{"type":"input_json_delta","partial_json":"{\"x\":"}`), addBlock("1", `{"type":"input_json_delta","partial_json":"1}"}`), endBlock("1"),
		beginBlock("2", use("g")), endBlock("2")))
	var calls []string
	for _, line := range data(o.out) {
		if _, rest, ok := strings.Cut(line, `"choices":[{"index":0,"delta":{"tool_calls":[`); ok {
			call, _, _ := strings.Cut(rest, `]},"logprobs"`)
			calls = append(calls, call)
		}
	}
	assert.Equal(t, []string{
		`{"index":0,"id":"f","type":"function","function":{"name":"f","arguments":""}}`,
		`{"index":0,"function":{"arguments":"{\"x\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`,
		`{"index":1,"id":"g","type":"function","function":{"name":"g","arguments":""}}`,
		`{"index":1,"function":{"arguments":"{}"}}`,
	}, calls)
}

func TestG080ACallWithoutArgumentsHasAnEmptyObject(t *testing.T) {
	added, _ := toChat(t, translate.AnswerContext{}, streamOf("tool_use", beginBlock("0", `{"type":"tool_use","id":"t","name":"f","input":{}}`), endBlock("0")))
	call := firstChoice(added)["message"].(client.Object)["tool_calls"].([]any)[0].(client.Object)
	assert.Equal(t, "{}", call["function"].(client.Object)["arguments"])
}

func TestG086TheLastCountWins(t *testing.T) {
	added, o := toChat(t, translate.AnswerContext{}, streamOf("end_turn"))
	assert.EqualValues(t, 15, o.Usage().Output())
	assert.Contains(t, o.out, `"completion_tokens":15`)
	assert.Equal(t, "", firstChoice(added)["message"].(client.Object)["content"])
}

func TestG099AnErrorInAStreamIsTheClientsOwn(t *testing.T) {
	o := translated(messagesChat, translate.AnswerContext{Stream: true}, [][]byte{messagesStream(
		`{"type":"message_start","message":{"model":"m"}}`, addBlock("0", `{"type":"text_delta","text":"a"}`),
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, true)
	require.NotNil(t, o.Fault())
	assert.JSONEq(t, `{"error":{"message":"Overloaded","type":"server_error","param":null,"code":"overloaded"}}`,
		string(formats.Of(translate.Chat).Errors.Append(nil, o.Fault(), "")))
	requireUnfinished(t, o)
}

// G035 is the first row, G110 the second.
func TestG110StopsOfWhiteSpaceAreCut(t *testing.T) {
	for _, tt := range []struct {
		stops []string
		texts []string
		want  string
	}{
		{[]string{"\n"}, []string{"one\ntwo"}, "one"},
		{[]string{"\n\n", "END"}, []string{`one\n`, `\ntwo`, "three"}, "one"},
	} {
		var events []string
		for _, text := range tt.texts {
			events = append(events, addBlock("0", `{"type":"text_delta","text":"`+strings.ReplaceAll(text, "\n", `\n`)+`"}`))
		}
		added, o := toChat(t, translate.AnswerContext{Cuts: translate.Cuts{Stops: tt.stops, Enforced: tt.stops[:1]}}, streamOf("max_tokens", events...))
		assert.Equal(t, tt.want, firstChoice(added)["message"].(client.Object)["content"])
		assert.Equal(t, "stop", firstChoice(added)["finish_reason"])
		assert.Contains(t, o.out, `"completion_tokens":15`, "the usage is still told")
	}
}

// TestThinkingThenTextThenATool is the walk through an answer of a messages
// provider to a chat client.
func TestThinkingThenTextThenATool(t *testing.T) {
	stream := streamOf("tool_use",
		beginBlock("0", `{"type":"thinking","thinking":"","signature":""}`), addBlock("0", `{"type":"thinking_delta","thinking":"t"}`), addBlock("0", `{"type":"signature_delta","signature":"s"}`), endBlock("0"),
		beginBlock("1", `{"type":"text","text":""}`), addBlock("1", `{"type":"text_delta","text":"a"}`), endBlock("1"),
		beginBlock("2", `{"type":"tool_use","id":"c","name":"f","input":{}}`), addBlock("2", `{"type":"input_json_delta","partial_json":"{}"}`), endBlock("2"))
	o := translated(messagesChat, translate.AnswerContext{Stream: true}, [][]byte{stream}, true)
	const c, f, b = signal.Content, signal.Finish, signal.BlockEnd
	assert.Equal(t, []signal.Signal{0, 0, c, c, b, 0, c, 0, c, 0, b, c | f, signal.Terminal}, o.signals)
	assert.Len(t, data(o.out), 8)
	assert.NotContains(t, o.out, `"usage"`)
	assert.NotContains(t, o.out, `"error"`)
	assert.Equal(t, 7, strings.Count(o.out, `"id":"id_1"`))
}

package client_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/translatetest/client"
)

// streams are streams of one format. The good one is accepted, those that no client accepts are
// refused or read as incomplete, and those that the gateway never writes are accepted unless
// its emitter is said to have written them.
type streams struct {
	format           client.Format
	good             string
	noClient, noEmit map[string]string
}

func (s streams) check(t *testing.T) {
	t.Helper()
	read := func(stream string) (bool, error) {
		answer, err := s.format.Read([]byte(stream))
		return answer.Complete && answer.Failure == nil, err
	}
	_, err := s.format.Emitted([]byte(s.good))
	require.NoError(t, err)
	complete, err := read(s.good)
	require.NoError(t, err)
	require.True(t, complete)
	for name, stream := range s.noClient {
		require.NotEqual(t, s.good, stream, name)
		_, err := s.format.Emitted([]byte(stream))
		assert.Error(t, err, name)
		complete, err := read(stream)
		assert.True(t, err != nil || !complete, name)
	}
	for name, stream := range s.noEmit {
		require.NotEqual(t, s.good, stream, name)
		_, err := s.format.Emitted([]byte(stream))
		assert.Error(t, err, name)
		complete, err := read(stream)
		require.NoError(t, err, name)
		assert.True(t, complete, name)
	}
}

// replaced returns a stream in which one thing is different.
func replaced(stream, old, change string) string { return strings.Replace(stream, old, change, 1) }

// event is a named event.
func event(name, members string) string {
	return "event: " + name + "\n" + `data: {"type":"` + name + `"` + members + "}\n\n"
}

const (
	start = `,"message":{"id":"i","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3}}`
	usage = `"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7}`
)

var (
	begins = event("message_start", start)
	opens  = event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	says   = event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"a"}`)
	shuts  = event("content_block_stop", `,"index":0`)
	ends   = event("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},`+usage)
	stops  = event("message_stop", "")
	pings  = event("ping", "")
	fails  = event("error", `,"error":{"type":"api_error","message":"m"}`)
	calls  = event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}`)
	thinks = event("content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`)
)

// argument is a fragment of an input.
func argument(text string) string {
	return event("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"`+text+`"}`)
}

func TestMessages(t *testing.T) {
	good := begins + opens + says + shuts + ends + stops
	streams{client.Messages, good, map[string]string{
		"two starts":                begins + good,
		"no start":                  opens + says + shuts + ends + stops,
		"a start with content":      replaced(good, `"content":[]`, `"content":[{}]`),
		"a gap in the indices":      strings.ReplaceAll(good, `"index":0`, `"index":1`),
		"two open blocks":           replaced(good, says, replaced(opens, `"index":0`, `"index":1`)+says),
		"a delta without a block":   begins + says + ends + stops,
		"a delta behind the stop":   replaced(good, shuts, shuts+says),
		"a stop twice":              replaced(good, shuts, shuts+shuts),
		"a delta of another kind":   replaced(good, "text_delta", "thinking_delta"),
		"an open block":             replaced(good, shuts, ""),
		"no message_delta":          replaced(good, ends, ""),
		"no stop_reason":            replaced(good, `"end_turn"`, "null"),
		"no usage":                  replaced(good, ","+usage, ""),
		"no message_stop":           replaced(good, stops, ""),
		"something behind the end":  good + pings,
		"a count below zero":        replaced(good, `"output_tokens":7`, `"output_tokens":-1`),
		"an event of another name":  replaced(good, "event: message_stop", "event: message_end"),
		"an event without a name":   replaced(good, "event: message_stop\n", ""),
		"an error":                  replaced(good, stops, fails),
		"something behind an error": begins + fails + pings,
		"no JSON":                   replaced(good, says, "event: ping\ndata: {\n\n"+says),
	}, map[string]string{
		"an empty text":             replaced(good, says, ""),
		"an empty delta":            replaced(good, says, says+replaced(says, `"a"`, `""`)),
		"text in the start":         replaced(good, `"text":""`, `"text":"b"`),
		"thinking unsigned":         begins + thinks + replaced(replaced(says, "text_delta", "thinking_delta"), `"text"`, `"thinking"`) + shuts + ends + stops,
		"a call without a name":     begins + replaced(calls, `"name":"f",`, "") + argument("{}") + shuts + ends + stops,
		"an unknown block":          begins + replaced(opens, `"text","text":""`, `"web_search_tool_result","content":[]`) + shuts + ends + stops,
		"an unknown delta":          replaced(good, says, says+event("content_block_delta", `,"index":0,"delta":{"type":"citations_delta","citation":{}}`)),
		"an unknown event":          replaced(good, ends, event("message_note", "")+ends),
		"two message_delta":         replaced(good, ends, ends+ends),
		"a ping behind the delta":   replaced(good, stops, pings+stops),
		"a count that is missing":   replaced(good, `,"output_tokens":7`, ""),
		"a start without a model":   replaced(good, `"model":"m",`, ""),
		"a comment":                 ": comment\n\n" + good,
		"half a blank line":         strings.TrimSuffix(good, "\n"),
		"lines that end with CR LF": strings.ReplaceAll(good, "\n", "\r\n"),
	}}.check(t)
}

func TestMessagesThatAreNotRefused(t *testing.T) {
	m, err := client.Messages.Read([]byte(pings + begins + pings + opens + says + fails))
	require.NoError(t, err)
	assert.False(t, m.Complete)
	assert.Equal(t, "a", m.Text(), "what came before an error is read")
	assert.Equal(t, &client.Failure{Type: "api_error", Message: "m"}, m.Failure)
	_, err = client.Messages.Emitted([]byte(begins + fails))
	require.ErrorIs(t, err, client.ErrFailed)

	answer, err := client.Messages.Emitted([]byte(begins + opens + says + shuts + replaced(ends, `"input_tokens":3,`, `"input_tokens":4,`) + stops))
	require.NoError(t, err)
	total, err := client.Decode([]byte(`{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":7}`))
	require.NoError(t, err)
	assert.Equal(t, total, answer["usage"], "later counts replace earlier ones")
}

// The gateway has sent the beginning of arguments before they turn out to be broken.
func TestInputsThatAreNoObject(t *testing.T) {
	for reason, want := range map[string]struct {
		read    bool
		emitted client.Object
	}{"end_turn": {false, client.Object{"_invalid_arguments": "{"}}, "max_tokens": {true, client.Object{}}} {
		stream := []byte(begins + calls + argument("{") + shuts + replaced(ends, "end_turn", reason) + stops)
		_, err := client.Messages.Read(stream)
		assert.Equal(t, want.read, err == nil)
		answer, err := client.Messages.Emitted(stream)
		require.NoError(t, err)
		assert.Equal(t, want.emitted, answer["content"].([]any)[0].(client.Object)["input"])
	}
	answer, err := client.Messages.Read([]byte(begins + replaced(calls, "tool_use", "server_tool_use") + argument("{}") + shuts + ends + stops))
	require.NoError(t, err)
	m, err := answer.Message()
	require.NoError(t, err)
	assert.JSONEq(t, "{}", string(m.Blocks("server_tool_use")[0].Input))
}

// chunk is an event of a stream of choices.
func chunk(members string) string {
	return `data: {"id":"i","object":"chat.completion.chunk","created":7,"model":"m",` + members + "}\n\n"
}

func choice(delta, finish string) string {
	return chunk(`"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}],"usage":null`)
}

const done = "data: [DONE]\n\n"

var (
	role     = choice(`{"role":"assistant","content":""}`, "null")
	word     = choice(`{"content":"a"}`, "null")
	called   = choice(`{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}`, "null")
	finished = choice(`{}`, `"stop"`)
	tally    = chunk(`"choices":[],"usage":{"prompt_tokens":1}`)
)

func TestChat(t *testing.T) {
	good := role + word + called + finished + tally + done
	streams{client.Chat, good, map[string]string{
		"another id":                replaced(good, `"id":"i"`, `"id":"j"`),
		"no id":                     strings.ReplaceAll(good, `"id":"i"`, `"id":""`),
		"a gap in the calls":        replaced(good, `[{"index":0,"id"`, `[{"index":1,"id"`),
		"a call twice":              replaced(good, called, called+called),
		"a call without an id":      replaced(good, `"id":"c"`, `"id":""`),
		"a call without a function": replaced(good, `,"function":{"name":"f","arguments":""}`, ""),
		"two ends of a choice":      replaced(good, finished, finished+finished),
		"text behind the end":       replaced(good, finished, finished+word),
		"no end of a choice":        replaced(good, finished, ""),
		"a finish that is no end":   replaced(good, `"stop"`, "null"),
		"a gap in the choices":      replaced(good, role, strings.ReplaceAll(role, `"index":0`, `"index":1`)),
		"usage twice":               replaced(good, tally, tally+tally),
		"a count below zero":        replaced(good, `"prompt_tokens":1`, `"prompt_tokens":-1`),
		"no DONE":                   replaced(good, done, ""),
		"DONE twice":                good + done,
		"something behind DONE":     good + word,
		"an event with a name":      replaced(good, "data: [DONE]", "event: done\ndata: [DONE]"),
		"a member error":            replaced(good, `"usage":null`, `"usage":null,"error":null`),
	}, map[string]string{
		"another created":        replaced(good, `"created":7`, `"created":8`),
		"no role":                replaced(good, role, ""),
		"the role twice":         replaced(good, role, role+role),
		"text beside the end":    replaced(good, finished, choice(`{"content":"b"}`, `"stop"`)),
		"two members":            replaced(good, `{"content":"a"}`, `{"content":"a","refusal":"b"}`),
		"an unknown member":      replaced(good, `{"content":"a"}`, `{"obfuscation":"a"}`),
		"an empty text":          replaced(good, `{"content":"a"}`, `{"content":""}`),
		"two choices of a chunk": replaced(good, `"choices":[{`, `"choices":[{"index":1,"delta":{},"finish_reason":"stop"},{`),
		"a call that begins":     replaced(good, `"arguments":""`, `"arguments":"{}"`),
		"an empty list of calls": replaced(good, `{"content":"a"}`, `{"tool_calls":[]}`),
		"usage beside choices":   replaced(replaced(good, tally, ""), `"usage":null`, `"usage":{}`),
		"no usage":               replaced(good, tally, ""),
		"usage in one chunk":     strings.ReplaceAll(good, `,"usage":null`, ""),
		"no chunks":              strings.ReplaceAll(good, "completion.chunk", "completion.part"),
		"a comment":              ": keep-alive\n\n" + good,
	}}.check(t)
}

func TestChatAddsUpDeltas(t *testing.T) {
	more := choice(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, "null")
	answer, err := client.Chat.Read([]byte(role + word + word + called + more + finished + tally + done))
	require.NoError(t, err)
	c, err := answer.Completion()
	require.NoError(t, err)
	assert.Equal(t, "aa", c.Choices[0].Text)
	assert.Equal(t, "f", c.Choices[0].Message.ToolCalls[0].Function.Name)
	assert.Equal(t, "{}", c.Choices[0].Message.ToolCalls[0].Function.Arguments)
	assert.Equal(t, 1, c.Usage.PromptTokens)

	answer, err = client.Chat.Read([]byte(role + word + `data: {"error":{"message":"m","type":"server_error"}}` + "\n\n"))
	require.NoError(t, err)
	assert.Equal(t, "server_error", answer.Failure.Type)
	assert.Equal(t, "a", answer.Text())
}

func TestCompletions(t *testing.T) {
	text := func(text, finish string) string {
		return replaced(chunk(`"choices":[{"text":"`+text+`","index":0,"logprobs":null,"finish_reason":`+finish+`}],"usage":null`), "chat.completion.chunk", "text_completion")
	}
	last := replaced(tally, "chat.completion.chunk", "text_completion")
	good := text("a", "null") + text("", `"stop"`) + last + done
	streams{client.Completions, good, map[string]string{
		"another id":             replaced(good, `"id":"i"`, `"id":"j"`),
		"text behind the end":    replaced(good, last, text("a", "null")+last),
		"no end of a choice":     text("a", "null") + last + done,
		"two usages":             replaced(good, last, last+last),
		"no DONE":                replaced(good, done, ""),
		"two DONEs":              good + done,
		"a choice without index": replaced(good, `"index":0,`, ""),
	}, map[string]string{
		"another created": replaced(good, `"created":7`, `"created":8`),
		"chunks of chat":  strings.ReplaceAll(good, "text_completion", "chat.completion.chunk"),
	}}.check(t)
}

func TestGemini(t *testing.T) {
	const (
		head  = `data: {"candidates":[{"content":{"parts":[`
		names = `"index":0}],"modelVersion":"m","responseId":"r"}` + "\n\n"
		says  = head + `{"text":"a"}],"role":"model"},` + names
		calls = head + `{"functionCall":{"id":"i","name":"f","args":{}}}],"role":"model"},` + names
		ends  = head + `{"text":""}],"role":"model"},"finishReason":"STOP",` + names
	)
	const good = says + "data: {}\n\n" + says + calls + ends
	answer, err := client.Gemini.Emitted([]byte(good))
	require.NoError(t, err)
	content := answer["candidates"].([]any)[0].(client.Object)["content"].(client.Object)
	assert.Len(t, content["parts"], 2)
	streams{client.Gemini, good, map[string]string{
		"no end":                    replaced(good, ends, ""),
		"nothing":                   "",
		"a comment":                 ": ping\n\n" + good,
		"a name":                    replaced(good, "data: ", "event: x\ndata: "),
		"a mark of the end":         good + "data: [DONE]\n\n",
		"another candidate":         replaced(good, `"index":0`, `"index":2`),
		"a call without an id":      replaced(good, `"id":"i",`, ""),
		"arguments as a text":       replaced(good, `"args":{}`, `"args":"{}"`),
		"a part of another kind":    replaced(good, `"text":"a"`, `"image":"a"`),
		"a count below zero":        strings.TrimSuffix(good, "}\n\n") + `,"usageMetadata":{"promptTokenCount":-1}}` + "\n\n",
		"a signature for addresses": replaced(good, `"text":"a"`, `"text":"a","thoughtSignature":"_-8="`),
		"an error in the middle":    says + `data: {"error":{"code":500}}` + "\n\n" + ends,
		"something that is no JSON": says + "data: x\n\n" + ends,
	}, map[string]string{
		"something behind the end":  good + says,
		"no parts":                  replaced(good, `{"text":"a"}`, ""),
		"another role":              replaced(good, `"model"`, `"user"`),
		"another answer":            replaced(good, `"r"`, `"s"`),
		"no model":                  replaced(good, `"modelVersion":"m",`, ""),
		"no candidate":              `data: {"candidates":[],"modelVersion":"m","responseId":"r"}` + "\n\n" + good,
		"usage before the end":      replaced(good, `"modelVersion"`, `"usageMetadata":{},"modelVersion"`),
		"lines that end with CR LF": strings.ReplaceAll(good, "\n", "\r\n"),
	}}.check(t)
}

func TestJSONAnswers(t *testing.T) {
	for body, f := range map[string]client.Format{
		`{"type":"error","error":{}}`:                          client.Messages,
		`{"type":"message","role":"assistant","content":null}`: client.Messages,
		`{"choices":[]}`:                                       client.Chat,
		`{"object":"text_completion"}`:                         client.Completions,
		`{"candidates":[]}`:                                    client.Gemini,
		`[`:                                                    client.Gemini,
		`{"choices":[{}]} {}`:                                  client.Chat,
	} {
		_, err := f.Parse([]byte(body))
		assert.Error(t, err, body)
	}
	answer, err := client.Gemini.Parse([]byte(`{"candidates":[{"content":{"parts":[{"text":"h","thought":true},{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, answer.Texts)
}

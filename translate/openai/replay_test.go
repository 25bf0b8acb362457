package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/fault"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func TestAReplayKeepsAllMembersOfTheAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		format translate.Format
		asked  bool
		answer string
		want   string
	}{
		"words, calls and members of the server's own": {translate.Chat, true, `{
			"id":"c1","object":"chat.completion","created":1,"model":"x","system_fingerprint":"fp","error":null,"citations":[ "u" ],
			"choices":[{"index":0,"logprobs":{"content":[]},"message":{"role":"assistant","content":"a\u2028\nb","reasoning":"r","tool_calls":[
				{"id":"t1","type":"function","function":{"name":"f","arguments":"{\"n\":1.0}"}},{"index":7,"id":"t2","type":"custom","custom":{"name":"g","input":""}}]},
				"finish_reason":"tool_calls","stop_reason":null}],
			"usage":{"prompt_tokens":3,"cost":0.10}}`,
			`data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","citations":["u"],"choices":[{"index":0,"logprobs":{"content":[]},"delta":{"role":"assistant","content":"a\u2028\nb","reasoning":"r"},"finish_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":"{\"n\":1.0}"}}]},"finish_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"t2","type":"custom","custom":{"name":"g","input":""}}]},"finish_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls","stop_reason":null}],"usage":null}

data: {"object":"chat.completion.chunk","id":"c1","created":1,"model":"x","system_fingerprint":"fp","choices":[],"usage":{"prompt_tokens":3,"cost":0.10}}

data: [DONE]

`},
		"choices of one index, without a role, to a client who wants no usage": {translate.Chat, false,
			`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":0,"message":{"role":null,"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":3}}`,
			`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{"role":"assistant","content":null},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{},"finish_reason":"length"}]}

data: [DONE]

`},
		"choices that say nothing, and do not say why they ended": {translate.Chat, false,
			`{"choices":[{"index":0},{"index":1,"message":null,"finish_reason":null}]}`,
			`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{"role":"assistant"},"finish_reason":null}]}

data: {"object":"chat.completion.chunk","choices":[{"index":1,"delta":{},"finish_reason":null}]}

data: [DONE]

`},
		"a completion without a text": {translate.Completions, false,
			`{"choices":[{"index":0,"logprobs":null,"finish_reason":"stop"}]}`,
			`data: {"object":"text_completion","choices":[{"index":0,"logprobs":null,"text":"","finish_reason":null}]}

data: {"object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`},
		"a null text, which clients cannot add to": {translate.Completions, false,
			`{"choices":[{"text":null,"index":0,"finish_reason":"stop"}]}`,
			`data: {"object":"text_completion","choices":[{"index":0,"text":"","finish_reason":null}]}

data: {"object":"text_completion","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`},
		"a text, with usage that never came": {translate.Completions, true,
			`{"id":"t1","object":"text_completion","choices":[{"text":" b","index":1,"logprobs":{"tokens":["b"]},"finish_reason":"stop"}],"usage":null}`,
			`data: {"object":"text_completion","id":"t1","choices":[{"index":1,"text":" b","logprobs":{"tokens":["b"]},"finish_reason":null}],"usage":null}

data: {"object":"text_completion","id":"t1","choices":[{"index":1,"text":"","logprobs":null,"finish_reason":"stop"}],"usage":null}

data: [DONE]

`},
	} {
		stream, fault := formats.Of(test.format).Answers.Replay([]byte(test.answer), test.asked)
		require.Nil(t, fault, name)
		assert.Equal(t, test.want, string(stream), name)
	}
}

// Neither the members that every chunk repeats nor the number of chunks were bounded:
// an id of 100 KB in front of 2000 empty calls became 200 MB.
func TestAReplayRefusesWhatWouldBecomeManyTimesAsLong(t *testing.T) {
	const many = 5000
	calls := `{"choices":[{"message":{"tool_calls":[` + strings.Repeat(`{},`, many) + `{}]}}]}`
	for name, answer := range map[string]string{
		"a long id":    `{"id":"` + strings.Repeat("x", 100<<10) + `","choices":[{"message":{"content":"a"}}]}`,
		"long names":   `{"model":"` + strings.Repeat("m", 600) + `","service_tier":"` + strings.Repeat("t", 600) + `","choices":[{}]}`,
		"many choices": `{"choices":[` + strings.Repeat(`{},`, many) + `{}]}`,
		"many calls":   calls,
		"calls of many choices": `{"choices":[` + strings.Repeat(`{"message":{"tool_calls":[{},{},{},{}]}},`, many/5) +
			`{}]}`,
	} {
		stream, f := formats.Of(translate.Chat).Answers.Replay([]byte(answer), false)
		require.NotNil(t, f, name)
		assert.Equal(t, fault.BadGateway, f.Kind, name)
		assert.Empty(t, stream, name)
	}
}

func TestAReplayOfManyCallsStaysASmallMultipleOfTheAnswer(t *testing.T) {
	call := `{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}},`
	answer := `{"id":"` + strings.Repeat("x", 500) + `","choices":[{"message":{"tool_calls":[` + strings.Repeat(call, 2000) + `{}]}}]}`
	stream, fault := formats.Of(translate.Chat).Answers.Replay([]byte(answer), false)
	require.Nil(t, fault)
	assert.Less(t, len(stream), 12*len(answer))
}

// The message was left out in silence, and the client got an empty answer.
func TestAReplayRefusesAMessageThatNobodyCanRead(t *testing.T) {
	for _, choice := range []string{`{"message":"hi"}`, `{"message":{"content":"a"},"delta":{"content":"b"}}`} {
		_, fault := formats.Of(translate.Chat).Answers.Replay([]byte(`{"choices":[`+choice+`]}`), false)
		assert.NotNil(t, fault, choice)
	}
}

package choices_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/choices"
)

func TestAReplayKeepsAllThatTheAnswerSays(t *testing.T) {
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
		"a text, with usage that never came": {translate.Completions, true,
			`{"id":"t1","object":"text_completion","choices":[{"text":" b","index":1,"logprobs":{"tokens":["b"]},"finish_reason":"stop"}],"usage":null}`,
			`data: {"object":"text_completion","id":"t1","choices":[{"index":1,"text":" b","logprobs":{"tokens":["b"]},"finish_reason":null}],"usage":null}

data: {"object":"text_completion","id":"t1","choices":[{"index":1,"text":"","logprobs":null,"finish_reason":"stop"}],"usage":null}

data: [DONE]

`},
	} {
		stream, fault := choices.Replay(test.format, []byte(test.answer), test.asked)
		require.Nil(t, fault, name)
		assert.Equal(t, test.want, string(stream), name)
	}
}

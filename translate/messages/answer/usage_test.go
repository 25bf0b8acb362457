package answer_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/answer"
)

// A client whose types have all fields of the specification could not read the
// answers of servers that leave the counts of the cache out.
func TestCountsOfTheCacheAreFilledIn(t *testing.T) {
	const zeros = `"cache_creation_input_tokens":0,"cache_read_input_tokens":0`
	for body, want := range map[string]string{
		`{"type":"message","content":[],"usage":{"input_tokens":1, "output_tokens":2} }`: `{"type":"message","content":[],"usage":{"input_tokens":1, "output_tokens":2,` + zeros + `} }`,
		`{"usage":{"cache_read_input_tokens":7,"cache_creation_input_tokens":null}}`:     `{"usage":{"cache_read_input_tokens":7,"cache_creation_input_tokens":0}}`,
		`{"type":"message_start","message":{"usage":{}}}`:                                `{"type":"message_start","message":{"usage":{` + zeros + `}}}`,
		`{"type":"message_start","message":{"content":[],"usage":{` + zeros + `}}}`:      `{"type":"message_start","message":{"content":[],"usage":{` + zeros + `}}}`,
		`{"type":"message_start","message":null,"x":1}`:                                  `{"type":"message_start","message":null,"x":1}`,
		`{"type":"message_start","message":"a","usage":null}`:                            `{"type":"message_start","message":"a","usage":null}`,
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":2}}`:                `{"type":"message_delta","delta":{},"usage":{"output_tokens":2}}`,
		`{"input_tokens":5}`: `{"input_tokens":5}`,
		`[]`:                 `[]`,
	} {
		got := edit.Apply(nil, []byte(body), answer.FillUsage(nil, []byte(body)))
		assert.Equal(t, want, string(got))
		assert.True(t, json.Valid(got))
		assert.Empty(t, answer.FillUsage(nil, got), "nothing is added twice")
	}
}

package answer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/answer"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
)

// A client whose types have all fields of the specification could not read the
// answers of servers that leave the details of usage out. Later they read that a prompt of
// 12 tokens had 0 tokens of text.
func TestDetailsOfUsageAreFilledIn(t *testing.T) {
	const (
		prompt     = `"prompt_tokens_details":{"cached_tokens":0,"text_tokens":0,"audio_tokens":0,"image_tokens":0}`
		completion = `"completion_tokens_details":{"text_tokens":0,"audio_tokens":0,"reasoning_tokens":0}`
	)
	for body, want := range map[string]string{
		`{"choices":[],"usage":{"prompt_tokens":1 }}`: `{"choices":[],"usage":{"prompt_tokens":1 ,` + strings.Replace(prompt, `"text_tokens":0`, `"text_tokens":1`, 1) + `,` + completion + `}}`,
		`{"usage":{"prompt_tokens":12,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":5,"audio_tokens":2},"completion_tokens_details":{"reasoning_tokens":7}}}`: `{"usage":{"prompt_tokens":12,"completion_tokens":9,` +
			`"prompt_tokens_details":{"cached_tokens":5,"audio_tokens":2,"text_tokens":10,"image_tokens":0},"completion_tokens_details":{"reasoning_tokens":7,"text_tokens":2,"audio_tokens":0}}}`,
		`{"usage":{}, "x": [ 1.0 ]}`: `{"usage":{` + prompt + `,` + completion + `}, "x": [ 1.0 ]}`,
		`{"usage":{"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":7}}}`: `{"usage":{` + prompt +
			`,"completion_tokens_details":{"reasoning_tokens":7,"text_tokens":0,"audio_tokens":0}}}`,
		`{"usage":{"prompt_tokens_details":{"cached_tokens":3,"text_tokens":null,"audio_tokens":0,"image_tokens":0,"new":1},` + completion + `}}`: `{"usage":{"prompt_tokens_details":{"cached_tokens":3,"text_tokens":0,"audio_tokens":0,"image_tokens":0,"new":1},` + completion + `}}`,
		`{"usage":{"prompt_tokens_details":{},"completion_tokens_details":"x"}}`:                                                                  `{"usage":{` + prompt + `,"completion_tokens_details":"x"}}`,
		`{"usage":{` + prompt + `,` + completion + `}}`:                                                                                           `{"usage":{` + prompt + `,` + completion + `}}`,
		`{"usage":null}`:             `{"usage":null}`,
		`{"choices":[{"usage":{}}]}`: `{"choices":[{"usage":{}}]}`,
		`[{"usage":{}}]`:             `[{"usage":{}}]`,
		`{"usage":5}`:                `{"usage":5}`,
	} {
		got := edit.Apply(nil, []byte(body), answer.FillUsage(nil, []byte(body)))
		assert.Equal(t, want, string(got))
		assert.True(t, json.Valid(got))
		assert.Empty(t, answer.FillUsage(nil, got), "nothing is added twice")
	}
}

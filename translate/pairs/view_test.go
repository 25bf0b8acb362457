package pairs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
)

func TestViewsContainTheBoundsOfARequest(t *testing.T) {
	const turn = `"model":"m","messages":[{"role":"user","content":"hi"}]`
	type much struct{ tokens, answers, prompts int64 }
	for body, c := range map[string]struct {
		format translate.Format
		want   much
	}{
		`{` + turn + `,"max_tokens":1e3}`: {translate.Messages, much{1000, 0, 0}},
		`{` + turn + `}`:                  {translate.Chat, much{}},
		`{` + turn + `,"n":3,"max_tokens":7,"max_completion_tokens":5}`:       {translate.Chat, much{7, 3, 0}},
		`{` + turn + `,"n":null,"max_tokens":null,"max_completion_tokens":5}`: {translate.Chat, much{5, 0, 0}},
		`{"model":"m","prompt":"a","max_tokens":9223372036854775807}`:         {translate.Completions, much{1<<63 - 1, 0, 0}},
		`{"model":"m","prompt":["a","b"],"n":2,"max_tokens":0}`:               {translate.Completions, much{0, 2, 2}},
		`{"model":"m","prompt":[1,2,3]}`:                                      {translate.Completions, much{}},
		`{"model":"m","prompt":[[1,2],[3],[4]]}`:                              {translate.Completions, much{0, 0, 3}},
	} {
		view, fault := formats.Of(c.format).Requests.Inspect([]byte(body), translate.Generate)
		require.Nil(t, fault, body)
		assert.Equal(t, c.want, much{view.MaxTokens, view.Answers, view.Prompts}, body)
	}
}

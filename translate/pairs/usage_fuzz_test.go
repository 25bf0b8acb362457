package pairs_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// FuzzUsageEdits edits the usage of any document: the result must be JSON, and usage that
// was filled in has the same counts as before and no missing ones.
func FuzzUsageEdits(f *testing.F) {
	for _, seed := range []string{
		`{"usage":{}}`, `{ "a" : [1.0] , "usage" : { "prompt_tokens" : 7 } , "b":"}" }`, `{"usage":{"prompt_tokens_details":null},"usage":{}}`,
		`{"type":"message_start","message":{"usage":{"input_tokens":1}}}`, `{"choices":[{"usage":{}}],"usage":{"completion_tokens_details":{"text_tokens":null}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := jsonscan.New(data)
		if c.Skip(); c.Finish() != nil {
			return
		}
		for _, format := range spoken {
			described := formats.Of(format)
			for _, edits := range []func([]edit.Edit, []byte) []edit.Edit{described.Answers.Usage.Cut, described.Answers.Usage.Fill} {
				if edits != nil {
					require.True(t, json.Valid([]byte(trimMark(string(edit.Apply(nil, data, edits(nil, data)))))), "%s", data)
				}
			}
			if described.Answers.Usage.Fill == nil {
				continue
			}
			filled := edit.Apply(nil, data, described.Answers.Usage.Fill(nil, data))
			require.Empty(t, described.Answers.Usage.Fill(nil, filled), "%s", filled)
			before, _ := described.Answers.Inspect(data, translate.Generate)
			after, _ := described.Answers.Inspect(filled, translate.Generate)
			require.Equal(t, before, after, "%s", filled)
		}
	})
}

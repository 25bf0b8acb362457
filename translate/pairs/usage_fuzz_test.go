package pairs_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// FuzzUsageEdits edits the usage of any document: what comes of it must be JSON,
// say the same of usage where it is filled in, and lack nothing then.
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
		for _, format := range translate.Formats {
			codec := pairs.For(format)
			for _, edits := range []func([]translate.Edit, []byte) []translate.Edit{codec.CutUsage, codec.FillUsage} {
				if edits != nil {
					require.True(t, json.Valid([]byte(trimMark(string(translate.AppendEdited(nil, data, edits(nil, data)))))), "%s", data)
				}
			}
			if codec.FillUsage == nil {
				continue
			}
			filled := translate.AppendEdited(nil, data, codec.FillUsage(nil, data))
			require.Empty(t, codec.FillUsage(nil, filled), "%s", filled)
			before, _ := codec.InspectAnswer(data, translate.Generate)
			after, _ := codec.InspectAnswer(filled, translate.Generate)
			require.Equal(t, before, after, "%s", filled)
		}
	})
}

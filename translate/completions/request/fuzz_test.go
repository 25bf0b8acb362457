package request_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/completions/request"
)

// FuzzInspect checks that what is accepted is JSON for others too, and that
// they find the same model and options in it.
func FuzzInspect(f *testing.F) {
	for _, tt := range accepted {
		f.Add([]byte(tt.body))
	}
	for _, tt := range refused {
		if len(tt.body) < 4096 {
			f.Add([]byte(tt.body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		view, fault := request.Inspect(body, translate.Generate)
		if fault != nil {
			require.NotEmpty(t, fault.Message)
			return
		}
		// A map, because the decoder of structs ignores the case of names.
		var theirs map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), &theirs))
		require.Equal(t, view.Model, decoded[string](t, theirs["model"]))
		require.Equal(t, view.Stream, decoded[bool](t, theirs["stream"]))
		options := decoded[map[string]json.RawMessage](t, theirs["stream_options"])
		require.Equal(t, view.IncludeUsage, decoded[bool](t, options["include_usage"]))
		require.Equal(t, string(theirs["model"]), string(body[view.ModelSpan.Start:view.ModelSpan.End]))
		require.Equal(t, byte('}'), body[view.End])
	})
}

// decoded decodes a value; one that is not there is the zero value.
func decoded[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if raw != nil {
		require.NoError(t, json.Unmarshal(raw, &v))
	}
	return v
}

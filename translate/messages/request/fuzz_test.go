package request_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/messages/request"
)

// FuzzInspect checks that what is accepted is JSON for others too, that the
// model found is the one that they find, and that the cuts leave valid JSON.
func FuzzInspect(f *testing.F) {
	for _, tt := range accepted {
		f.Add([]byte(tt.body))
	}
	for _, tt := range refused {
		if len(tt.body) < 4096 {
			f.Add([]byte(tt.body))
		}
	}
	f.Add([]byte(turn(`{"role":"assistant","content":[` + minted + `,` + text + `,` + minted + `]}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		view, fault := request.Inspect(body, translate.CountTokens)
		if fault != nil {
			require.NotEmpty(t, fault.Message)
			return
		}
		plain := bytes.TrimPrefix(body, []byte("\ufeff"))
		require.True(t, json.Valid(plain))
		var model string
		require.NoError(t, json.Unmarshal(body[view.ModelSpan.Start:view.ModelSpan.End], &model))
		require.Equal(t, model, view.Model)
		require.Equal(t, byte('}'), body[view.End])
		require.True(t, json.Valid(bytes.TrimPrefix([]byte(without(string(body), view.Minted)), []byte("\ufeff"))))
	})
}

package request

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// The line of Claude Code at the beginning of the system text differs in every request,
// so that servers that cache by prefix once read the whole conversation anew each time.
func TestTheAttributionOfAnAgentIsFound(t *testing.T) {
	const line = `{"type":"text","text":"x-anthropic-billing-header: cc_version=1; cch=0a1;"}`
	for body, want := range map[string]string{
		`{"model":"m","system":[` + line + `]}`:                                 `{"model":"m","system":[]}`,
		`{"system":[ ` + line + ` , {"type":"text","text":"x"}],"messages":[]}`: `{"system":[ {"type":"text","text":"x"}],"messages":[]}`,
		`{"system":[{"type":"text","text":"x"},` + line + `]}`:                  "",
		`{"system":"x-anthropic-billing-header: a text of its own"}`:            "",
		`{"messages":[{"role":"user","content":[` + line + `]}]}`:               "",
		`{"system":[]}`:             "",
		`{"system":null}`:           "",
		`{"system":[{"type":"x"}]}`: "",
	} {
		cut := Attribution([]byte(body))
		if want == "" {
			assert.Equal(t, translate.Span{}, cut, body)
			continue
		}
		require.False(t, cut.Empty(), body)
		assert.Equal(t, want, body[:cut.Start]+body[cut.End:])
	}
}

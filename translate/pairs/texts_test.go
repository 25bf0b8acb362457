package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// The strict pass knows where the texts of a request are. A translation that does not search
// for them must be the same.
func TestKnownTextsDoNotChangeATranslation(t *testing.T) {
	for from, body := range agentRequests(t) {
		view, fault := formats.Of(from).Requests.Inspect(body, translate.Generate)
		require.Nil(t, fault)
		require.NotEmpty(t, view.Texts, from)
		for _, to := range formats.OfProviders() {
			if !pairs.CanTranslate(from, to.Name) {
				continue
			}
			info := core.RequestInfo{Model: "m", Upstream: "m"}
			want, _, fault := pairs.Render(nil, from, to.Name, body, &info)
			info.Texts = view.Texts
			got, _, refusal := pairs.Render(nil, from, to.Name, body, &info)
			assert.Equal(t, fault, refusal)
			assert.Equal(t, string(want), string(got), "%s to %s", from, to.Name)
		}
	}
}

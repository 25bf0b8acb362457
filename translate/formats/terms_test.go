package formats_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Words with escapes were not recognized, so that budgets reserved the usual price for the
// tier priority, which costs twice as much, and nothing for searches.
func TestEscapesHideNothingThatCosts(t *testing.T) {
	for _, c := range []struct {
		format   translate.Format
		members  string
		terms    token.Terms
		searches int64
	}{
		{translate.Messages, `"speed":"f\u0061st","inference_geo":"\u0075s"`, token.Fast | token.RegionUS, 0},
		{translate.Messages, `"tools":[{"type":"web\u005fsearch_20250305","name":"web_search","max_uses":3}]`, 0, 3},
		{translate.Messages, `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}]`, 0, 3},
		{translate.Chat, `"service_tier":"\u0070riority"`, token.Priority, 0},
		{translate.Chat, `"service_tier":"priority"`, token.Priority, 0},
		{translate.Responses, `"service_tier":"ultra\u0066ast"`, token.Ultrafast, 0},
		{translate.Responses, `"tools":[{"type":"\u0077eb_search"}],"max_tool_calls":2`, 0, 2},
	} {
		view, refused := formats.Of(c.format).Requests.Inspect(bodyOf(c.format, c.members), translate.Generate)
		if assert.Nil(t, refused, c.members) {
			assert.Equal(t, c.terms, view.Costs.Terms, c.members)
			assert.Equal(t, c.searches, view.Costs.Searches, c.members)
		}
	}
}

package pairs_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/formats"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
)

// The memory of a conversation grew by a quarter each time: a request of 8 MB was copied five
// times, and took a third more time.
func TestALongConversationIsNotCopiedPieceByPiece(t *testing.T) {
	turn := `{"role":"user","content":"` + strings.Repeat("a", 900) + `"},{"role":"assistant","content":"` + strings.Repeat("b", 900) + `"}`
	body := []byte(`{"model":"m","max_tokens":8,"messages":[` + turn + strings.Repeat(","+turn, 2000) + `,{"role":"user","content":"c"}]}`)
	copies := 2.5
	if raced {
		copies = 5 // slices.Grow allocates twice then
	}
	info := &core.RequestInfo{Model: "m", Upstream: "up"}
	for _, to := range []translate.Format{translate.Chat, translate.Responses, translate.Gemini, translate.Converse} {
		t.Run(string(to), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, fault := pairs.RenderInParts(nil, translate.Messages, to, body, info)
			runtime.ReadMemStats(&after)
			require.Nil(t, fault)
			assert.Less(t, float64(after.TotalAlloc-before.TotalAlloc), copies*float64(len(body)))
		})
	}
	t.Run(string(translate.Messages), func(t *testing.T) {
		chat, _, fault := pairs.Render(nil, translate.Messages, translate.Chat, body, info)
		require.Nil(t, fault)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, fault = pairs.RenderInParts(nil, translate.Chat, translate.Messages, chat, info)
		runtime.ReadMemStats(&after)
		require.Nil(t, fault)
		assert.Less(t, float64(after.TotalAlloc-before.TotalAlloc), copies*float64(len(chat)))
	})
}

// The middle of a long text was copied twice: a request of 8 MB took 16 MB more, for as long as it
// was sent.
func TestALongTextIsNotCopied(t *testing.T) {
	turn := `{"role":"user","content":"` + strings.Repeat("a", 1<<20) + `"},{"role":"assistant","content":"b"}`
	body := []byte(`{"model":"m","max_tokens":8,"messages":[` + turn + strings.Repeat(","+turn, 7) + `,{"role":"user","content":"c"}]}`)
	view, fault := formats.Of(translate.Messages).Requests.Inspect(body, translate.Generate)
	require.Nil(t, fault)
	info := &core.RequestInfo{Model: "m", Upstream: "up", Texts: view.Texts}
	for _, to := range []translate.Format{translate.Chat, translate.Responses, translate.Gemini, translate.Converse} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, r, fault := pairs.RenderInParts(nil, translate.Messages, to, body, info)
		runtime.ReadMemStats(&after)
		require.Nil(t, fault)
		assert.Len(t, r.Texts, 8, to)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(len(body)/2), to)
	}
}

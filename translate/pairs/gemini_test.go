package pairs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// Gemini does not state which sequence has ended an answer.
func TestK017AnAnswerOfGeminiStatesNoStopSequence(t *testing.T) {
	body := `{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"One, "}]},"finishReason":"STOP"}]}`
	got := answered(geminiToMessages, translate.AnswerContext{Cuts: translate.Cuts{Stops: []string{"two"}}}, []byte(body))
	require.True(t, got.Finished())
	assert.Contains(t, got.out, `"stop_reason":"end_turn","stop_sequence":null`)
}

func TestK035LongEventsOfGeminiAreReadWithAnyEnds(t *testing.T) {
	text := strings.Repeat("All work and no play. ", 5<<20/22)
	for _, end := range []string{"\n\n", "\r\n\r\n"} {
		stream := `data: {"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"` + text + `"}]},"finishReason":"STOP"}]}` + end
		pieces := slices.Collect(slices.Chunk([]byte(stream), 64<<10))
		got := translated(geminiToChat, translate.AnswerContext{}, pieces, true)
		require.True(t, got.Finished())
		assert.True(t, strings.Contains(got.out, text), "the text is whole")
	}
}

// The tier was not read, so that an answer had the price of the usual one.
func TestTheTierOfGeminiHasItsPrice(t *testing.T) {
	body := `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"serviceTier":"flex"}}`
	got := answered(geminiToChat, translate.AnswerContext{}, []byte(body))
	assert.Equal(t, token.Flex, got.Usage().Terms)
}

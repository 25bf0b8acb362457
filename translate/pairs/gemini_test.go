package pairs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/core"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/pairs"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/trait"
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

// Only the model takes back what it has signed. The table of fields named the reasoning of other
// providers among what is kept, and its loss was reported without a path.
func TestAClientOfResponsesReturnsTheSignatureOfGemini(t *testing.T) {
	render := func(signature string) (string, core.Rendered) {
		item := `{"type":"reasoning","summary":[],"encrypted_content":"` + sealedBlock(`{"type":"thinking","thinking":"t","signature":"`+signature+`"}`) + `"},`
		info := &core.RequestInfo{Model: "m1", Upstream: upstreamName(translate.Gemini), Traits: new(trait.Traits), Seals: sealer}
		out, r, fault := pairs.Render(nil, translate.Responses, translate.Gemini, []byte(going(item+callItemF+","+outputItem).body), info)
		require.Nil(t, fault)
		return string(out), r
	}
	out, r := render("call:c2ln")
	assert.Contains(t, out, `"thoughtSignature":"c2ln"`)
	assert.Empty(t, r.Losses)

	out, r = render("of another")
	assert.NotContains(t, out, "another")
	assert.Equal(t, "input[*].summary hint", lossesOf(r.Losses))
}

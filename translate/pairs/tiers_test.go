package pairs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
)

// inTier is an answer of a format with a service tier.
func inTier(format translate.Format, tier string) string {
	word := `"service_tier":"` + tier + `"`
	switch format {
	case translate.Messages:
		return `{"model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1,` + word + `}}`
	case translate.Chat:
		return `{"model":"m","choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1},` + word + `}`
	case translate.Completions:
		return `{"model":"m","choices":[{"index":0,"text":"a","finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1},` + word + `}`
	case translate.Responses:
		return `{"model":"m","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":1,"output_tokens":1},` + word + `}`
	case translate.Gemini:
		return `{"modelVersion":"m","candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"serviceTier":"` + tier + `"}}`
	default:
		return `{"output":{"message":{"content":[{"text":"a"}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1},"serviceTier":{"type":"` + tier + `"}}`
	}
}

// clientTiers are the words of clients for tiers; a tier without one is named among the losses.
var clientTiers = map[translate.Format]map[string]string{
	translate.Messages:    {"priority": "priority", "fast": "priority", "batch": "batch", "default": "standard", "standard": "standard", "on_demand": "standard"},
	translate.Chat:        {"priority": "priority", "fast": "priority", "flex": "flex", "scale": "scale", "FLEX": "flex", "default": "default", "standard": "default", "on_demand": "default"},
	translate.Completions: {"default": "", "standard": "", "on_demand": ""},
	translate.Responses:   {"priority": "priority", "fast": "priority", "flex": "flex", "scale": "scale", "FLEX": "flex", "ultrafast": "ultrafast", "default": "default", "standard": "default", "on_demand": "default"},
	translate.Gemini:      {"priority": "priority", "fast": "priority", "flex": "flex", "FLEX": "flex", "default": "", "standard": "", "on_demand": ""},
}

// A client that paid for flex could not see whether it had got it: of the tiers of answers, all but
// the ordinary one and priority vanished without a report.
func TestTiersOfAnswersReachClientsOrAreReported(t *testing.T) {
	losses := map[string]string{"FLEX": "flex", "fast": "priority"}
	for _, w := range ways {
		for _, tier := range []string{"default", "standard", "on_demand", "priority", "fast", "flex", "FLEX", "scale", "ultrafast", "reserved", "batch", "novel_tier"} {
			o := answered(w, w.remembered(false), []byte(inTier(w.source, tier)))
			require.Nil(t, o.Fault(), w.name())
			word, known := clientTiers[w.target][tier]
			switch {
			case known && word == "":
				assert.NotContains(t, o.out, "Tier", "%s: %s", w.name(), tier)
				assert.NotContains(t, o.Losses().String(), "tier", "%s: %s", w.name(), tier)
			case known:
				assert.Regexp(t, `"service_?[tT]ier":"`+word+`"`, o.out, "%s: %s", w.name(), tier)
				assert.NotContains(t, o.Losses().String(), "ier=", "%s: %s", w.name(), tier)
			default:
				if loss := losses[tier]; loss != "" {
					tier = loss
				}
				assert.Regexp(t, `(ier|type)=`+tier, o.Losses().String(), "%s: %s", w.name(), tier)
			}
		}
	}
}

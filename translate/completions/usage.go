package completions

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// usageDetails are the parts of usage that many servers leave out.
var usageDetails = []translate.Wanted{
	{Name: "prompt_tokens_details", Members: translate.Counts("cached_tokens", "text_tokens", "audio_tokens", "image_tokens")},
	{Name: "completion_tokens_details", Members: translate.Counts("text_tokens", "audio_tokens", "reasoning_tokens")},
}

// FillUsage appends the edits that give the usage of a valid answer, or of a chunk
// of one, the details that it lacks: zeros. An answer without usage has none.
func FillUsage(edits []translate.Edit, answer []byte) []translate.Edit {
	c := jsonscan.Again(answer)
	c.EnterObject()
	for c.Member() {
		if string(c.Name()) == "usage" {
			edits = translate.Fill(&c, usageDetails, edits)
		} else {
			c.Skip()
		}
	}
	return edits
}

package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
)

// usageDetails are the parts of usage that many servers leave out.
var usageDetails = []edit.Wanted{
	{Name: "prompt_tokens_details", Members: edit.Counts("cached_tokens", "text_tokens", "audio_tokens", "image_tokens")},
	{Name: "completion_tokens_details", Members: edit.Counts("text_tokens", "audio_tokens", "reasoning_tokens")},
}

// FillUsage appends the edits that add missing details, as zeros, to the usage of a
// valid answer or chunk. An answer without usage stays unchanged.
func FillUsage(edits []edit.Edit, answer []byte) []edit.Edit {
	c := jsonscan.Again(answer)
	c.EnterObject()
	for c.Member() {
		if string(c.Name()) == "usage" {
			edits = edit.Fill(&c, usageDetails, edits)
		} else {
			c.Skip()
		}
	}
	return edits
}

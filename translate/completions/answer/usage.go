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

// FillUsage appends the edits that give the usage of a valid answer, or of a chunk
// of one, the details that it lacks: zeros. An answer without usage has none.
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

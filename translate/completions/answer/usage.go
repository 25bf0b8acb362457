package answer

import (
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/edit"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/jsonscan"
	"github.com/caddy-ai-gateway/caddy-ai-gateway/translate/token"
)

// FillUsage appends the edits that add missing details to the usage of a valid answer or
// chunk: the tokens that are not counted as others are text, and other details are 0. An
// answer without usage stays unchanged.
func FillUsage(edits []edit.Edit, answer []byte) []edit.Edit {
	c := jsonscan.Again(answer)
	c.EnterObject()
	for c.Member() {
		if string(c.Name()) == "usage" {
			edits = edit.Fill(&c, detailsOf(c), edits)
		} else {
			c.Skip()
		}
	}
	return edits
}

// detailsOf returns the details that the usage at the cursor should have.
func detailsOf(c jsonscan.Cursor) []edit.Wanted {
	var prompt, completion text
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "prompt_tokens":
			token.ReadCount(&c, &prompt.total)
		case "completion_tokens":
			token.ReadCount(&c, &completion.total)
		case "prompt_tokens_details":
			prompt.readOthers(&c)
		case "completion_tokens_details":
			completion.readOthers(&c)
		default:
			c.Skip()
		}
	}
	return []edit.Wanted{
		{Name: "prompt_tokens_details", Members: append(edit.Counts("cached_tokens"), prompt.wanted("image_tokens")...)},
		{Name: "completion_tokens_details", Members: completion.wanted("reasoning_tokens")},
	}
}

// text counts the tokens of a prompt or a completion that are text.
type text struct{ total, others int64 }

// readOthers reads the details at the cursor that are no text. Cached tokens are text.
func (t *text) readOthers(c *jsonscan.Cursor) {
	for c.OpenObject(); c.Member(); {
		switch string(c.Name()) {
		case "audio_tokens", "image_tokens", "reasoning_tokens":
			var n int64
			token.ReadCount(c, &n)
			t.others += n
		default:
			c.Skip()
		}
	}
}

// wanted returns the counts of text, audio and another kind.
func (t *text) wanted(other string) []edit.Wanted {
	return []edit.Wanted{{Name: "text_tokens", Count: max(0, t.total-t.others)}, {Name: "audio_tokens"}, {Name: other}}
}
